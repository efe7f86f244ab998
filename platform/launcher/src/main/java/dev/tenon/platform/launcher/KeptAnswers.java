package dev.tenon.platform.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;

import dev.tenon.platform.boot.Answers;
import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.CfgFile;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import dev.tenon.platform.launcher.log.OwnLines;
import dev.tenon.platform.launcher.trust.Trust;
import dev.tenon.platform.launcher.trust.TrustPolicy;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Help texts and scripts for shells of earlier calls, in the folder of the start script's caches (system property
/// `tenon.cache`): the same call is answered from there without a
/// framework.
///
/// A file holds one answer and a digest of all that it depends on: the arguments, which streams are
/// terminals, the variables of the environment that commands read, the values of `etc/*.cfg`, and
/// each file of the installation with its size and the time of its last change, which nobody sets.
/// If anything of that differs, or the file is damaged, it is no answer. Arguments, variables and
/// values may hold secrets, so only their digest is written. Nothing is kept where bundles have to be
/// trusted, which the framework checks by their content, and nothing after a change that this process
/// may have missed.
final class KeptAnswers implements Answers {
    private static final Set<String> VARIABLES =
            Set.of("NO_COLOR", "TERM", "COLUMNS", "LANG", "HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS");
    /// Once there are so many, they are removed.
    private static final int MOST = 200;
    private static final int MOST_BYTES = 1 << 20;
    /// Between the parts of a file; in no argument, variable or name of a file.
    private static final String END = "\0";
    /// How far a file system's clock may be behind: some know even seconds only.
    static final long SLACK_MILLIS = 2000;

    private final Home home;
    private final Map<String, String> environment;
    private final Path file;
    private final String call;
    /// When this process began, in milliseconds.
    private final long begun;

    private KeptAnswers(Home home, Map<String, String> environment, Path file, String call, long begun) {
        this.home = home;
        this.environment = environment;
        this.file = file;
        this.call = call;
        this.begun = begun;
    }

    /// {@return where the answer of a call is kept; empty if it cannot be}
    ///
    /// @param environment variables of the environment
    /// @param begun when the process began, in milliseconds since 1970
    /// @param args the process's arguments
    static Optional<KeptAnswers> of(Home home, Map<String, String> environment, long begun, String... args) {
        String folder = System.getProperty("tenon.cache", "");
        if (folder.isEmpty()
                || environment.getOrDefault("TENON_AOT", "").equals("off")
                || Arrays.stream(args).anyMatch(arg -> arg.startsWith("@"))) { // a file with arguments
            return Optional.empty();
        }
        String call = call(environment, args);
        Path file = Path.of(folder, "answers", digest(call));
        return Optional.of(new KeptAnswers(home, environment, file, call, begun));
    }

    private static String call(Map<String, String> environment, String... args) {
        StringBuilder call = new StringBuilder(args.length + END + String.join(END, args));
        call.append(END).append(System.getProperty("tenon.tty"));
        new TreeMap<>(environment).forEach((name, value) -> {
            if (name.startsWith("TENON_") || name.startsWith("LC_") || VARIABLES.contains(name)) {
                call.append(END).append(name).append('=').append(value);
            }
        });
        return call.append(END)
                .append(System.getProperty("java.runtime.version"))
                .toString();
    }

    /// The state of all that commands are made of.
    ///
    /// @param files each file, and the values of settings
    /// @param changed when the last change was, in milliseconds since 1970
    private record Installed(String files, long changed) {
        /// @throws IOException if it cannot be told
        static Installed of(Home home) throws IOException {
            StringBuilder all = new StringBuilder();
            long last = 0;
            for (Path folder :
                    List.of(home.lib(), home.system(), home.bundles(), home.extras(), home.deploy(), home.etc())) {
                all.append(folder).append('\n');
                if (Files.exists(folder)) {
                    last = Math.max(last, changed(Files.readAttributes(folder, "unix:ctime"))); // a file may have gone
                }
                for (Path each : Home.files(folder, "")) {
                    String name = each.getFileName().toString();
                    Map<String, Object> now = Files.readAttributes(each, "unix:ino,size,ctime");
                    last = Math.max(last, changed(now));
                    for (String part : List.of("ino", "size", "ctime")) {
                        all.append(now.get(part)).append(' ');
                    }
                    all.append(name).append('\n');
                    if (name.endsWith(".config")) {
                        throw new IOException(each + " may name any variable, in a form of FileInstall's own");
                    }
                    if (name.endsWith(".cfg")) {
                        all.append(new TreeMap<>(
                                CfgFile.read(each, System::getProperty).values()));
                    }
                }
            }
            return new Installed(all.toString(), last);
        }

        private static long changed(Map<String, Object> file) {
            return ((FileTime) file.get("ctime")).toMillis();
        }
    }

    /// Prints the kept answer.
    ///
    /// @param output standard output
    /// @return the exit status; empty if there is no answer, or it cannot be printed, which the
    ///     command line reports
    OptionalInt print(OutputStream output) {
        try {
            if (!Files.isRegularFile(file) || Files.size(file) > MOST_BYTES) {
                return OptionalInt.empty();
            }
            String text = new String(Files.readAllBytes(file), UTF_8);
            String known = digest(call + END + Installed.of(home).files()) + END;
            String rest = text.substring(text.indexOf(END) + 1);
            if (!text.equals(sum(rest) + END + rest) || !rest.startsWith(known)) {
                return OptionalInt.empty();
            }
            String[] answer = rest.substring(known.length()).split(END, -1);
            output.write(answer[1].getBytes(UTF_8));
            return OptionalInt.of(Integer.parseInt(answer[0]));
        } catch (IOException e) {
            log().debug("{} is not used", file, e);
            return OptionalInt.empty();
        }
    }

    @Override
    public void keep(int status, String out) {
        if (OwnLines.written() || out.contains(END)) {
            return; // a bundle that does not run was reported, for example
        }
        Path folder = file.getParent();
        Path fresh = folder.resolve("new-" + ProcessHandle.current().pid());
        try {
            Installed now = Installed.of(home);
            String known = digest(call + END + now.files());
            String rest = String.join(END, known, Integer.toString(status), out);
            byte[] text = (sum(rest) + END + rest).getBytes(UTF_8);
            if (text.length > MOST_BYTES
                    || now.changed() > begun - SLACK_MILLIS
                    || new Trust(TrustPolicy.read(home, environment::get)).strict()) {
                return;
            }
            CacheFolder.createPrivate(folder);
            List<Path> kept = Home.files(folder, "");
            for (Path each : kept.size() < MOST ? List.<Path>of() : kept) {
                Files.deleteIfExists(each);
            }
            Files.write(fresh, text);
            Files.move(fresh, file, ATOMIC_MOVE);
        } catch (IOException | PlatformException e) {
            log().debug("The answer is not kept", e);
        }
    }

    private static String digest(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every Java has it
        }
    }

    private static String sum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(UTF_8));
        return Long.toHexString(sum.getValue());
    }

    private static Logger log() {
        return LoggerFactory.getLogger(KeptAnswers.class);
    }
}
