package dev.tenon.platform.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.FileVisitOption.FOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.tenon.platform.boot.CacheMaker;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.trust.Trust;
import dev.tenon.platform.launcher.trust.TrustPolicy;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The cache that shortens a start (JEP 483 and 515), in the folder that the start script names
/// (system property `tenon.cache`): a process checks whether it is up to date and, if not, starts
/// another one that creates it for later starts. The JVM options for kernels of further bundles are
/// created with it.
///
/// The script gives the JVM the cache that is there: the JVM itself refuses one of another class path or another
/// JVM, but ends with a damaged one, so the script looks at the size and for the sign of [#survived].
/// Nothing that goes wrong here is fatal.
public final class StartCache {
    private static final String MODULE_LOADER = "java.base/jdk.internal.module=ALL-UNNAMED";
    /// A class of a bundle, in the JVM's log of loaded classes: its name and that of the bundle's
    /// jar.
    private static final Pattern LOADED =
            Pattern.compile("^.*\\] ([^ ]*) source: file:.*/bundles/(?:(?:system|extras)/)?([^/]*\\.jar)$");

    /// System property of the script, set with a cache: the file that says that the JVM has not got to the launcher.
    private static final String MARK = "tenon.mark";

    private static final String OPTIONS = "launcher.options";
    /// A file that is locked while the cache is made.
    private static final String MAKING = "making";

    private static final AtomicBoolean REFRESHED = new AtomicBoolean();

    private final Home home;
    private final Path folder;
    private final Path cache;
    /// Says what the cache was made for, and whether that succeeded; as old as the cache.
    private final Path made;

    private StartCache(Home home, Path folder) {
        this.home = home;
        this.folder = folder;
        cache = folder.resolve("tenon.aot");
        made = folder.resolve("made-for");
    }

    /// {@return whether the process was started with a cache}
    static boolean isUsed() {
        return System.getProperty(MARK) != null;
    }

    /// Tells the script that the JVM got as far as the launcher with the cache, so that it is not damaged.
    static void survived() {
        String mark = System.getProperty(MARK);
        if (mark != null && !new File(mark).delete()) {
            log().debug("{} is not there", mark);
        }
    }

    /// Starts a process that makes the cache, with the least priority, if a jar, an option or the
    /// JVM was changed since it was made. Does nothing in a process that was not started by the
    /// script, and when it is called again.
    static void refresh() {
        String folder = System.getProperty("tenon.cache", "");
        if (folder.isEmpty()
                || System.getenv().getOrDefault("TENON_AOT", "").equals("off")
                || REFRESHED.getAndSet(true)) {
            return;
        }
        StartCache cache = new StartCache(Home.find(), Path.of(folder));
        try {
            if (!cache.isUpToDate()) {
                cache.startOnlyMaker();
            }
        } catch (IOException | UncheckedIOException e) {
            log().debug("The start-up cache is left as it is", e);
        }
    }

    private boolean isUpToDate() throws IOException {
        if (!Files.exists(made) || !Files.readString(made).equals(purpose())) {
            return false;
        }
        FileTime then = changed(made);
        List<Path> parts =
                List.of(home.lib(), home.bundles(), home.deploy(), javaHome().resolve("release"));
        for (Path part : parts) {
            // In a package deploy is a link.
            try (Stream<Path> files = Files.exists(part) ? Files.walk(part, FOLLOW_LINKS) : Stream.empty()) {
                if (files.anyMatch(file -> changed(file).compareTo(then) > 0)) {
                    return false;
                }
            }
        }
        return true;
    }

    /// When a file was last changed or copied: a copied jar keeps its modification time.
    private static FileTime changed(Path file) {
        try {
            return (FileTime) Files.getAttribute(file, "unix:ctime");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String purpose() {
        return String.join("\n", javaHome().toString(), System.getProperty("java.runtime.version"), classPath())
                + (Files.exists(cache) ? "\nmade\n" : "\nfailed\n");
    }

    /// Starts a maker unless one runs, or another process starts one at this moment.
    private void startOnlyMaker() throws IOException {
        try (FileChannel channel = FileChannel.open(folder.resolve("maker.lock"), CREATE, WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null || isUpToDate() || isBeingMade()) {
                log().info("The start-up cache is being made by another process");
                return;
            }
            Process maker = startMaker();
            CacheMaker.announce(folder, maker.toHandle());
            log().info(
                            "The start-up cache is made in the background, by process {}: there is none for these jars, options"
                                    + " and this JVM",
                            maker.pid());
        }
    }

    private boolean isBeingMade() throws IOException {
        if (CacheMaker.running(folder).isPresent()) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(folder.resolve(MAKING), CREATE, WRITE);
                FileLock lock = channel.tryLock()) {
            return lock == null;
        }
    }

    private Process startMaker() throws IOException {
        // Protected from the terminal's signals; the script finds the same JVM and class path
        // again.
        ProcessBuilder maker = new ProcessBuilder(
                "/bin/sh",
                "-c",
                "trap '' HUP INT; exec nice -n 19 \"$0\"",
                home.bin().resolve("tenon").toString());
        maker.environment().put("TENON_AOT", "make");
        maker.environment().remove("TENON_JAVA_OPTS");
        return maker.redirectInput(new File("/dev/null"))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
    }

    /// Makes the cache, and ends the process with status 0 if there is a new one.
    ///
    /// @param args none
    public static void main(String[] args) throws IOException, InterruptedException {
        StartCache cache = new StartCache(Home.find(), Path.of(System.getProperty("tenon.cache")));
        System.exit(cache.make() ? 0 : 1);
    }

    /// {@return whether there is a new cache; not if another process makes one at this moment}
    private boolean make() throws IOException, InterruptedException {
        try (FileChannel channel = FileChannel.open(folder.resolve(MAKING), CREATE, WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                return false;
            }
            Path recorded = folder.resolve("aot.conf");
            Path loaded = folder.resolve("aot.load");
            Path fresh = folder.resolve("aot.new");
            try {
                Files.write(folder.resolve("bundles.options"), ofBundles());
                String command = record(recorded, loaded);
                if (command.isEmpty() || run(recorded, List.of("-XX:AOTMode=create", "-XX:AOTCache=" + fresh)) != 0) {
                    Files.deleteIfExists(cache);
                    return false;
                }
                Files.writeString(folder.resolve("classes"), command + "\n" + classes(loaded));
                try (FileChannel written = FileChannel.open(fresh, WRITE)) {
                    written.force(true);
                    Files.writeString(folder.resolve("size"), written.size() + " " + libBytes() + "\n");
                }
                Files.move(fresh, cache, ATOMIC_MOVE);
                return true;
            } finally {
                for (Path file : List.of(recorded, loaded, fresh)) {
                    Files.deleteIfExists(file);
                }
                Files.writeString(made, purpose());
            }
        }
    }

    /// {@return the bytes of all jars of the launcher}
    private long libBytes() throws IOException {
        long bytes = 0;
        for (Path jar : Home.files(home.lib(), ".jar")) {
            bytes += Files.size(jar);
        }
        return bytes;
    }

    /// {@return what the kernels of bundles ask for that did not come with the distribution;
    /// nothing if a bundle has to be trusted first}
    private Collection<String> ofBundles() throws IOException {
        Collection<String> options = new TreeSet<>();
        if (new Trust(TrustPolicy.read(home, System::getenv)).strict()) {
            return options;
        }
        for (Path bundles : List.of(home.bundles(), home.extras(), home.deploy())) {
            for (Path jar : Home.files(bundles, ".jar")) {
                try {
                    options.addAll(KernelOptions.of(jar));
                } catch (IOException e) {
                    log().debug("{} has no options for the JVM", jar, e);
                }
            }
        }
        options.removeAll(Files.readAllLines(home.lib().resolve(OPTIONS)));
        return options;
    }

    /// Runs the first command of `bin/aot-training` that succeeds.
    ///
    /// @return its name, or an empty text
    private String record(Path recorded, Path loaded) throws IOException, InterruptedException {
        for (String line : Files.readAllLines(home.bin().resolve("aot-training"))) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            List<String> training = Arrays.asList(line.strip().split(" +"));
            List<String> command = new ArrayList<>(List.of(
                    "-XX:AOTMode=record",
                    "-Dtenon.vector=last",
                    "-Dtenon.control=hidden",
                    "-Xlog:class+load:file=\"" + loaded + "\"",
                    Main.class.getName()));
            command.addAll(training);
            if (run(recorded, command) == 0 && Files.exists(recorded)) {
                return training.getFirst();
            }
        }
        return "";
    }

    /// Runs a JVM as the start script does.
    private int run(Path recorded, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                javaHome().resolve("bin/java").toString(),
                "-XX:AOTConfiguration=" + recorded,
                "@" + home.lib().resolve(OPTIONS),
                "--add-exports",
                MODULE_LOADER,
                "-cp",
                classPath(),
                "-Dtenon.home=" + home.root(),
                "-Dtenon.cache=" + folder));
        command.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(folder.resolve("aot.log").toFile());
        builder.environment().put("TENON_AOT", "off");
        builder.environment().put("TENON_LOG", "error");
        Process process = builder.start();
        process.outputWriter(UTF_8).close();
        return process.waitFor();
    }

    private static String classes(Path loaded) throws IOException {
        StringBuilder classes = new StringBuilder();
        for (String line : Files.readAllLines(loaded)) {
            Matcher matcher = LOADED.matcher(line);
            if (matcher.matches()) {
                classes.append(matcher.group(2))
                        .append(' ')
                        .append(matcher.group(1))
                        .append('\n');
            }
        }
        return classes.toString();
    }

    private static Path javaHome() {
        return Path.of(System.getProperty("java.home"));
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    private static Logger log() {
        return LoggerFactory.getLogger(StartCache.class);
    }
}
