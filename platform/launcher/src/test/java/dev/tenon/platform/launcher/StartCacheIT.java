package dev.tenon.platform.launcher;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The cache that shortens a start.
///
/// Long: each making of it records a run and takes the JVM some ten seconds.
@Tag("long")
class StartCacheIT extends LauncherHome {
    private static final String KERNEL = "dev.tenon.api.kernel.cpu.Kernel";
    private static final String KERNEL_SOURCE = """
            package dev.tenon.api.kernel.cpu;
            @interface ForceInline {}
            class Kernel { @ForceInline void part() {} }
            """;

    @Test
    void startUpCacheIsMadeUsedAndMadeAgainWhenAJarChanges() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "# comment\nexit 3\necho trained\n");
        Path cache = home.resolve("cache/tenon.aot");
        Path making = Files.createDirectories(cache.getParent()).resolve("making");
        try (FileChannel other = FileChannel.open(making, CREATE, WRITE)) {
            FileLock lock = other.lock();
            assertEquals(
                    1, finish(start(List.of(script()), "", "TENON_AOT=make")).code(), "another process makes it");
            lock.release();
        }
        assertFalse(Files.exists(cache));
        new FakeBundle("fake.kernels").type(KERNEL, KERNEL_SOURCE).write(home.resolve("deploy/kernels.jar"));
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code());
        assertTrue(Files.size(cache) > 1_000_000);
        List<String> classes = Files.readAllLines(home.resolve("cache/classes"));
        assertEquals("echo", classes.getFirst());
        assertTrue(classes.stream().anyMatch(line -> line.startsWith("fake-cli.jar ")), classes::toString);
        var made = Files.getLastModifiedTime(cache);

        Result used = finish(start(List.of(script(), "echo", "x"), "", "TENON_AOT="));
        assertEquals(List.of("echo|x"), used.out());
        assertEquals(List.of(), used.err());
        assertEquals(made, Files.getLastModifiedTime(cache));
        List<String> options =
                finish(start(List.of(script(), "options"), "", "TENON_AOT=")).out();
        assertTrue(options.contains("-XX:CompileCommand=inline," + KERNEL + "::part"), options::toString);
        Result vector = finish(start(List.of(script(), "vector"), "", "TENON_AOT="));
        assertEquals(0, vector.code(), vector::toString);

        Path jar = home.resolve("bundles/fake-cli.jar");
        var date = Files.getLastModifiedTime(jar);
        Files.delete(jar);
        cliBundle().header("Bundle-Name", "changed").write(jar);
        Files.setLastModifiedTime(jar, date); // a stale cache must be noticed even though the date says nothing
        assertEquals(
                List.of("echo|x"),
                finish(start(List.of(script(), "echo", "x"), "", "TENON_AOT=")).out());
        // In the background with the least priority: that may take a while beside others.
        for (int i = 0; i < 12_000 && made.equals(Files.getLastModifiedTime(cache)); i++) {
            Thread.sleep(100);
        }
        assertFalse(made.equals(Files.getLastModifiedTime(cache)));
        try (FileChannel other = FileChannel.open(making, WRITE)) {
            other.lock(); // the process that makes it has ended
        }
    }

    @Test
    void manyFirstStartsBeginOneMaker() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "echo trained\n");
        List<Path> logs = new ArrayList<>();
        List<Process> starts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            logs.add(folder.resolve("log" + i));
            starts.add(prepared(List.of(script(), "echo", "x"), "", "TENON_AOT=", "TENON_LOG=info")
                    .redirectError(logs.get(i).toFile())
                    .start());
        }
        int makers = 0;
        for (int i = 0; i < starts.size(); i++) {
            assertTrue(starts.get(i).waitFor(10, TimeUnit.MINUTES), "the process does not end");
            assertEquals(0, starts.get(i).exitValue());
            makers += Files.readString(logs.get(i)).contains("The start-up cache is made in the background") ? 1 : 0;
        }
        assertEquals(1, makers, "of processes that began one");
        awaitMade(home.resolve("cache/made-for"));
    }

    /// A JVM with such a cache crashes, at each start.
    @Test
    void aDamagedCacheIsRemovedAndMadeAgain() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "echo trained\n");
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code());
        Path cache = home.resolve("cache/tenon.aot");
        Path madeFor = home.resolve("cache/made-for");
        try (FileChannel file = FileChannel.open(cache, WRITE)) {
            file.truncate(file.size() / 2);
        }
        assertStartsWithout(cache);
        awaitMade(madeFor);
        assertTrue(Files.size(cache) > 1_000_000, "it was made again");

        long crashed = pidOfAnEndedProcess();
        Files.createFile(home.resolve("cache/hs_err_pid" + crashed + ".log"));
        Path mark = Files.createFile(home.resolve("cache/starting." + crashed));
        assertStartsWithout(cache);
        assertFalse(Files.exists(mark), "the mark of a process that crashed with it");
        awaitMade(madeFor);
        assertTrue(isUsed(cache), "the cache is used again");
        try (Stream<Path> files = Files.list(home.resolve("cache"))) {
            assertEquals(
                    List.of(),
                    files.filter(f -> f.getFileName().toString().startsWith("starting."))
                            .toList());
        }
    }

    /// Another version's jars may have the same dates; the JVM would run the classes of the cache.
    @Test
    void aCacheOfOtherJarsOfTheLauncherIsMadeAgain() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "echo trained\n");
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code());
        Path cache = home.resolve("cache/tenon.aot");
        assertTrue(isUsed(cache));
        Path jar;
        try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
            jar = jars.filter(each -> each.getFileName().toString().startsWith("slf4j-api"))
                    .findFirst()
                    .orElseThrow();
        }
        var date = Files.getLastModifiedTime(jar);
        Path other = folder.resolve("other.jar");
        Files.copy(jar, other);
        try (FileSystem content = FileSystems.newFileSystem(other)) {
            Files.writeString(content.getPath("more"), "another version");
        }
        Files.move(other, jar, REPLACE_EXISTING);
        Files.setLastModifiedTime(jar, date);
        assertStartsWithout(cache);
        awaitMade(home.resolve("cache/made-for"));
        assertTrue(isUsed(cache));
    }

    /// Such as with Ctrl-C, before the JVM has got to the launcher.
    @Test
    void aCacheIsKeptWhenAStartIsEndedEarlyAndNotWhenTwoAreInTurn() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "echo trained\n");
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code());
        Path cache = home.resolve("cache/tenon.aot");
        for (int i = 0; i < 3; i++) {
            Path mark = Files.writeString(home.resolve("cache/starting." + pidOfAnEndedProcess()), "0\n");
            assertTrue(isUsed(cache), "one start was ended");
            assertFalse(Files.exists(mark));
        }
        Files.writeString(home.resolve("cache/starting." + pidOfAnEndedProcess()), "1\n");
        assertStartsWithout(cache);
    }

    /// It holds code, which another user could have put there.
    @Test
    void aCacheOfAnotherUserIsNeitherUsedNorChanged() throws Exception {
        assumeTrue(Files.getAttribute(home, "unix:uid").equals(0), "only root gives files to another user");
        Files.writeString(home.resolve("bin/aot-training"), "echo trained\n");
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code());
        Path cache = home.resolve("cache/tenon.aot");
        assertTrue(isUsed(cache));
        Path own = Files.createDirectory(folder.resolve("own"));
        for (Path foreign : List.of(home.resolve("cache"), cache)) {
            Files.setAttribute(foreign, "unix:uid", 12_345);
        }
        var changed = Files.getAttribute(cache, "unix:ctime");

        Result result = finish(start(List.of(script(), "options"), "", "TENON_AOT=", "XDG_CACHE_HOME=" + own));

        assertEquals(0, result.code(), result::toString);
        assertEquals(List.of(), result.err());
        assertTrue(result.out().stream().noneMatch(option -> option.startsWith("-XX:AOTCache=")), result::toString);
        assertEquals(changed, Files.getAttribute(cache, "unix:ctime"));
        // Another one is made in the background.
        try (Stream<Path> folders = Files.list(own.resolve("tenon"))) {
            awaitFile(folders.findFirst().orElseThrow().resolve("made-for"));
        }
    }

    private void assertStartsWithout(Path cache) throws Exception {
        assertFalse(isUsed(cache), () -> cache + " was used");
    }

    private boolean isUsed(Path cache) throws Exception {
        Result result = finish(start(List.of(script(), "options"), "", "TENON_AOT="));
        assertEquals(0, result.code(), result::toString);
        return result.out().contains("-XX:AOTCache=" + cache);
    }

    private static void awaitFile(Path file) throws Exception {
        for (int i = 0; i < 12_000 && !Files.exists(file); i++) {
            Thread.sleep(100);
        }
        assertTrue(Files.exists(file), () -> file + " was not made");
    }

    /// The file is made shortly before its maker ends, and no start begins another one before that.
    private static void awaitMade(Path madeFor) throws Exception {
        awaitFile(madeFor);
        String maker = Files.readString(madeFor.resolveSibling("maker"));
        Optional<ProcessHandle> process = ProcessHandle.of(Long.parseLong(maker.split(" ")[0]));
        if (process.isPresent()) {
            process.get().onExit().get(1, TimeUnit.MINUTES);
        }
    }

    private static long pidOfAnEndedProcess() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        return ended.pid();
    }
}
