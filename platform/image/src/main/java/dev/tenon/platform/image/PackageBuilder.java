package dev.tenon.platform.image;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// Makes what needs no Java on the machine: an archive of the distribution with a runtime of its own
/// and, for Linux, a Debian package; and the manifests of package managers.
///
/// Arguments: the distribution's archive, the folder to write to, the version, the time that all files
/// bear, the folder `docs/deploy`, the address of the project. System property `tenon.image.jmods`: a
/// folder with another platform's `.jmod` files; empty for this JDK.
public final class PackageBuilder {
    private static final String SHIPPED = "lib/shipped.sha256";
    private static final Pattern NOT_LISTED =
            Pattern.compile("(\\.\\./)*((etc|deploy|var|DEBIAN|share/doc|share/lintian)/.*|" + SHIPPED + ")");
    /// Where completions of shells lie below `share` of the archive.
    static final String BASH = "bash-completion/completions/tenon";

    static final String FISH = "fish/vendor_completions.d/tenon.fish";

    private PackageBuilder() {}

    /// Makes the packages.
    ///
    /// @param args see the class
    /// @throws Exception if anything fails
    public static void main(String[] args) throws Exception {
        Path distribution = Path.of(args[0]);
        Path target = Path.of(args[1]);
        String version = args[2];
        Instant time = Instant.parse(args[3]);
        JavaRuntime runtime = new JavaRuntime(System.getProperty("tenon.image.jmods", ""));
        Path work = target.resolve("packages");
        Trees.delete(work);
        Path home = work.resolve("tenon");
        Trees.unzip(distribution, home, name -> true);
        runtime.link(home.resolve("java"));
        String platform = runtime.platform();
        boolean zip = platform.startsWith("windows");
        if (!zip) {
            completions(home, runtime);
        }
        list(home, home);
        Path archive = target.resolve("tenon-" + version + "-" + platform + (zip ? ".zip" : ".tar.gz"));
        try (OutputStream out = Files.newOutputStream(archive)) {
            if (zip) {
                Trees.zip(home, "tenon-" + version + "/", out, time);
            } else {
                Trees.tar(home, "tenon-" + version + "/", out, time);
            }
        }
        told(archive);
        if (platform.startsWith("linux-")) {
            String architecture = platform.endsWith("aarch64") ? "arm64" : "amd64";
            Path root = work.resolve("deb");
            DebianPackage made = new DebianPackage(root, version, time);
            made.layOut(home, Path.of(args[4]));
            told(made.write(target.resolve("tenon_" + version + "_" + architecture + ".deb"), architecture));
        }
        Manifests.write(target, distribution, version, args[5]);
    }

    /// Asks the distribution itself, by its runtime or, where that is another platform's, by this
    /// Java.
    private static void completions(Path home, JavaRuntime runtime) throws IOException, InterruptedException {
        for (String[] shell : new String[][] {{"bash", BASH}, {"fish", FISH}}) {
            Path file = home.resolve("share").resolve(shell[1]);
            Files.createDirectories(file.getParent());
            ProcessBuilder builder = new ProcessBuilder(
                            home.resolve("bin/tenon").toString(), "completion", shell[0])
                    .redirectOutput(file.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().keySet().removeIf(name -> name.startsWith("TENON_"));
            builder.environment().put("TENON_AOT", "off");
            if (!runtime.isOwn()) {
                builder.environment().put("TENON_JAVA_HOME", System.getProperty("java.home"));
            }
            if (builder.start().waitFor() != 0) {
                throw new IOException("the distribution printed no completion for " + shell[0]);
            }
        }
        Trees.delete(home.resolve("cache"));
    }

    /// Writes the digests of an installation's files, but for what users change and for what
    /// documents the package. Lines of extras stay.
    ///
    /// @param root the folder of all files
    /// @param home the installation's folder, `root` or below it; paths are relative to it
    static void list(Path root, Path home) throws IOException {
        Path list = home.resolve(SHIPPED);
        TreeMap<String, String> lines = new TreeMap<>();
        for (String line : Files.readAllLines(list)) {
            String path = line.substring(line.indexOf(' ')).strip();
            if (path.indexOf('/') < 0) {
                lines.put(path, line);
            }
        }
        for (Path file : Trees.below(root)) {
            String path = Trees.slashed(home.relativize(file));
            if (Files.isRegularFile(file) && !NOT_LISTED.matcher(path).matches()) {
                lines.put(path, digest("SHA-256", file) + "  " + path);
            }
        }
        Files.write(list, lines.values());
    }

    private static void told(Path file) throws IOException {
        System.out.printf("%s: %,d bytes%n", file, Files.size(file));
    }

    static String digest(String algorithm, Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IOException(e);
        }
    }
}
