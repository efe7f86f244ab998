package dev.tenon.platform.cli.bundles;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlServerTests {

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
                ControlServer.announce(pointer, socket);
                if (i % 2 == 0) {
                    Files.delete(pointer); // as a process does that ends
                }
            }
            assertTrue(!reader.isDone(), reader::toString);
            threads.shutdownNow();
        }
        text(pointer, read);
        assertEquals(Set.of(socket.toString()), read);
        try (var files = Files.list(pointer.getParent())) {
            assertEquals(List.of(pointer), files.toList(), "a draft was left");
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
