package dev.tenon.platform.bundles.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlServerTests {

    /// A number that no system gives to a process.
    private static final String GONE = "999999999";

    @TempDir
    Path folder;

    @Test
    void whereTheSocketIsIsReadWholeOrNotAtAll() throws Exception {
        Path pointer = folder.resolve("running/1");
        Path socket = Path.of("control");
        Set<String> read = ConcurrentHashMap.newKeySet();
        try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
            Future<?> reader = threads.submit((Callable<Void>) () -> {
                while (!Thread.interrupted()) {
                    text(pointer, read);
                }
                return null;
            });
            for (int i = 0; i < 2000 && !reader.isDone(); i++) {
                ControlServer.announce(pointer, socket, "/home 7");
                if (i % 2 == 0) {
                    Files.delete(pointer); // as a process does that ends
                }
            }
            assertTrue(!reader.isDone(), reader::toString);
            threads.shutdownNow();
        }
        text(pointer, read);
        assertEquals(Set.of(socket + "\n/home 7\n"), read);
        try (var files = Files.list(pointer.getParent())) {
            assertEquals(List.of(pointer), files.toList(), "a draft was left");
        }
    }

    @Test
    void whatKilledProcessesLeftIsRemovedAndNothingElse() throws IOException {
        long own = ProcessHandle.current().pid();
        List<String> stay = List.of(
                Long.toString(own), "." + own + "." + own + ".part", ".a.part", ".a.b.part", "note.7.part", ".x.7.tmp");
        List<String> go = List.of(GONE, "." + GONE + "." + GONE + ".part", ".a-1.0.0.jar." + GONE + ".part");
        for (List<String> names : List.of(stay, go)) {
            for (String name : names) {
                Files.createFile(folder.resolve(name));
            }
        }
        ControlClient.sweep(folder);
        assertEquals(Set.copyOf(stay), names());
        assertEquals(List.of(), ControlClient.running(folder, HomeMark.of(folder)), "platforms besides this process");
        ControlClient.sweep(folder.resolve("none"));
    }

    @Test
    void anUnfinishedFileIsNotSweptAwayWhileItsProcessRuns() throws IOException {
        Path draft = Drafts.of(folder.resolve("models.jar"));
        Files.createFile(draft);
        Drafts.sweep(folder);
        assertEquals(Set.of(draft.getFileName().toString()), names());
    }

    /// The parent of this process stands for a platform that runs.
    @Test
    void aCopyOfTheFolderDoesNotReachThePlatformOfTheOriginal() throws IOException {
        long running = ProcessHandle.current().parent().orElseThrow().pid();
        Path original = Files.createDirectories(folder.resolve("original/cache/running"));
        Path copy = Files.createDirectories(folder.resolve("copy/cache/running"));
        Path pointer = original.resolve(Long.toString(running));
        String home = HomeMark.of(folder.resolve("original"));
        ControlServer.announce(pointer, Path.of("control"), home);
        Files.copy(pointer, copy.resolve(pointer.getFileName()));
        assertEquals(
                List.of(new ControlClient(running, Path.of("control"), home)), ControlClient.running(original, home));
        assertEquals(List.of(), ControlClient.running(copy, HomeMark.of(folder.resolve("copy"))));
        Files.move(folder.resolve("original"), folder.resolve("moved"));
        Files.move(folder.resolve("copy"), folder.resolve("original"));
        assertEquals(
                List.of(),
                ControlClient.running(original, HomeMark.of(folder.resolve("original"))),
                "a copy in the original's place");
    }

    private Set<String> names() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    private static void text(Path pointer, Set<String> read) throws IOException {
        try {
            read.add(Files.readString(pointer));
        } catch (NoSuchFileException e) {
            assertEquals(pointer.toString(), e.getFile()); // not there, as it may be
        }
    }
}
