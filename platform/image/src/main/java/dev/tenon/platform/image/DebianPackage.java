package dev.tenon.platform.image;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.apache.commons.compress.archivers.ar.ArArchiveEntry;
import org.apache.commons.compress.archivers.ar.ArArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

/// The Debian package: the files laid out as they are installed, and the archive of them. Its own files
/// are in `src/main/debian`, the service's in `docs/deploy`.
final class DebianPackage {
    private static final Path OWN = Path.of("src/main/debian");
    private static final String[] CONTROL = {"control", "conffiles", "md5sums", "postinst", "prerm", "postrm"};
    private static final int KIB = 1024;
    private static final int PLAIN = 0100644;

    private final Path root;
    private final Path control;
    private final String version;
    private final Instant time;

    /// @param root the folder to lay out in, which is not there
    DebianPackage(Path root, String version, Instant time) {
        this.root = root;
        this.control = root.resolveSibling("control");
        this.version = version;
        this.time = time;
    }

    /// Lays the files out.
    ///
    /// @param home the distribution with its runtime and completions
    /// @param deploy the folder with the service's files
    void layOut(Path home, Path deploy) throws IOException {
        Path lib = root.resolve("usr/lib/tenon");
        for (String part : new String[] {"bin", "lib", "bundles", "models", "java"}) {
            copy(home.resolve(part), lib.resolve(part));
        }
        Files.delete(lib.resolve("bin/tenon.cmd"));
        link("usr/bin/tenon", "../lib/tenon/bin/tenon");
        link("usr/lib/tenon/etc", "/etc/tenon");
        link("usr/lib/tenon/deploy", "/var/lib/tenon/deploy");
        copy(home.resolve("etc"), root.resolve("etc/tenon"));
        copy(deploy.resolve("tenon.conf"), root.resolve("etc/tenon/tenon.conf"));
        copy(home.resolve("deploy"), root.resolve("var/lib/tenon/deploy"));
        Files.createDirectories(root.resolve("var/lib/tenon/models"));
        copy(deploy.resolve("tenon.service"), root.resolve("usr/lib/systemd/system/tenon.service"));
        Path share = root.resolve("usr/share");
        copy(home.resolve("share/" + PackageBuilder.BASH), share.resolve(PackageBuilder.BASH));
        copy(home.resolve("share/" + PackageBuilder.FISH), share.resolve(PackageBuilder.FISH));
        copy(OWN.resolve("zsh"), share.resolve("zsh/vendor-completions/_tenon"));
        gzip(Files.readAllBytes(home.resolve("share/man/man1/tenon.1")), share.resolve("man/man1/tenon.1.gz"));
        copy(OWN.resolve("copyright"), share.resolve("doc/tenon/copyright"));
        copy(home.resolve("NOTICE"), share.resolve("doc/tenon/NOTICE"));
        gzip(filled("changelog").getBytes(StandardCharsets.UTF_8), share.resolve("doc/tenon/changelog.gz"));
        copy(OWN.resolve("lintian-overrides"), share.resolve("lintian/overrides/tenon"));
        PackageBuilder.list(root, lib);
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
        if (Files.isDirectory(from)) {
            for (Path path : Trees.below(from)) {
                Files.copy(
                        path,
                        to.resolve(from.relativize(path)),
                        StandardCopyOption.COPY_ATTRIBUTES,
                        LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private void link(String path, String to) throws IOException {
        Path link = root.resolve(path);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(to));
    }

    private static void gzip(byte[] bytes, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        GzipParameters best = new GzipParameters();
        best.setCompressionLevel(9);
        try (OutputStream out = new GzipCompressorOutputStream(Files.newOutputStream(to), best)) {
            out.write(bytes);
        }
    }

    private String filled(String name) throws IOException {
        return Files.readString(OWN.resolve(name))
                .replace("${version}", version)
                .replace(
                        "${date}",
                        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss Z", Locale.ROOT)
                                .format(time.atOffset(ZoneOffset.UTC)));
    }

    /// Writes the package.
    ///
    /// @param to its file
    /// @param architecture Debian's name of the processor
    /// @return the file
    Path write(Path to, String architecture) throws IOException {
        Files.createDirectories(control);
        StringBuilder sums = new StringBuilder();
        StringBuilder configuration = new StringBuilder();
        long bytes = 0;
        for (Path path : Trees.below(root)) {
            String name = Trees.slashed(root.relativize(path));
            if (!Files.isSymbolicLink(path) && Files.isRegularFile(path)) {
                bytes += Files.size(path);
                sums.append(PackageBuilder.digest("MD5", path))
                        .append("  ")
                        .append(name)
                        .append('\n');
                if (name.startsWith("etc/")) {
                    configuration.append('/').append(name).append('\n');
                }
            }
        }
        Files.writeString(control.resolve("md5sums"), sums);
        Files.writeString(control.resolve("conffiles"), configuration);
        for (String name : CONTROL) {
            Path file = control.resolve(name);
            if (!Files.exists(file)) {
                Files.writeString(
                        file,
                        filled(name)
                                .replace("${architecture}", architecture)
                                .replace("${size}", Long.toString((bytes + KIB - 1) / KIB)));
                file.toFile().setExecutable(name.startsWith("p"), false);
            }
        }
        try (ArArchiveOutputStream ar = new ArArchiveOutputStream(Files.newOutputStream(to))) {
            entry(ar, "debian-binary", "2.0\n".getBytes(StandardCharsets.US_ASCII));
            entry(ar, "control.tar.gz", tar(control));
            entry(ar, "data.tar.gz", tar(root));
        }
        return to;
    }

    private byte[] tar(Path folder) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Trees.tar(folder, "./", bytes, time);
        return bytes.toByteArray();
    }

    private void entry(ArArchiveOutputStream ar, String name, byte[] bytes) throws IOException {
        ar.putArchiveEntry(new ArArchiveEntry(name, bytes.length, 0, 0, PLAIN, time.getEpochSecond()));
        ar.write(bytes);
        ar.closeArchiveEntry();
    }
}
