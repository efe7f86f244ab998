package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class StateFileTests {
    /// Several pieces of what is written at once, and a part of one.
    private static final int BYTES = (9 << 20) + 12;

    private static final int PLACES = 3;

    @TempDir
    Path folder;

    private final Arena arena = Arena.ofShared();
    private StateFile<Integer> file;

    @AfterEach
    void close() {
        file.close();
        arena.close();
    }

    private void open() {
        file = new StateFile<>(folder.resolve("states"), PLACES * (long) BYTES + 7, BYTES, arena);
    }

    private static byte[] state(int page) {
        byte[] bytes = new byte[BYTES];
        new Random(page).nextBytes(bytes);
        return bytes;
    }

    /// Puts a state into the file and waits until it is written.
    private void put(int page) {
        MemorySegment piece = arena.allocate(BYTES).copyFrom(MemorySegment.ofArray(state(page)));
        assertFalse(file.put(page, piece) == piece);
        written();
    }

    private void written() {
        while (file.ahead() > 0) {
            LockSupport.parkNanos(100_000);
        }
    }

    private void assertTaken(int page) {
        MemorySegment piece = file.take(page);
        assertEquals(-1, MemorySegment.ofArray(state(page)).mismatch(piece));
        file.give(piece);
        assertFalse(file.has(page));
    }

    @Test
    void whatWasUsedLeastRecentlyGoes() {
        open();
        for (int page = 0; page < PLACES; page++) {
            put(page);
        }
        assertTaken(0);
        put(0);
        put(4);
        assertFalse(file.has(1));
        file.drop(2);
        put(5);
        assertEquals(PLACES, file.count());
        for (int page : List.of(0, 4, 5)) {
            assertTaken(page);
        }
        assertNull(file.take(9));
    }

    @Test
    void whatIsNotWrittenYetIsTakenToo() {
        open();
        for (int round = 0; round < 5; round++) {
            int first = 2 * round;
            put(first);
            MemorySegment piece = arena.allocate(BYTES).copyFrom(MemorySegment.ofArray(state(first + 1)));
            file.put(first + 1, piece);
            assertTaken(first + 1);
            assertTaken(first);
        }
    }

    @Test
    void whoWritesSlowlyGetsNoMore() {
        open();
        MemorySegment piece = arena.allocate(BYTES);
        int kept = 0;
        MemorySegment next = file.put(0, piece);
        for (int page = 1; next != piece; page++) {
            kept = page;
            piece = next;
            next = file.put(page, piece);
            assertTrue(page < 100_000, "it writes as fast as memory is given back");
        }
        assertFalse(file.has(kept));
        written();
    }

    @Test
    void readingThatTakesLongerThanTheTokensIsNotWorthIt() {
        open();
        assertTrue(file.isWorthReading(1)); // nothing is known yet
        put(1);
        assertTaken(1);
        assertFalse(file.isWorthReading(1));
        assertTrue(file.isWorthReading(Long.MAX_VALUE));
        int refused = 0;
        while (!file.isWorthReading(1000)) {
            refused++;
        }
        assertTrue(refused > 10, refused + "");
    }

    @Test
    void aFolderThatCannotBeMadeIsNoticedOnce() throws IOException {
        Files.createFile(folder.resolve("states"));
        open();
        file.put(1, arena.allocate(BYTES));
        written();
        assertFalse(file.has(1));
        MemorySegment piece = arena.allocate(BYTES);
        assertSame(piece, file.put(2, piece));
    }

    /// The file as the system shows it to its own process, though it has no name any more.
    private Path opened() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(each -> target(each)
                            .startsWith(folder.resolve("states/states-").toString()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return ""; // of the listing itself
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void nothingOfItIsInTheFolder() throws IOException {
        open();
        put(1);
        assertTrue(target(opened()).endsWith(" (deleted)"));
        try (Stream<Path> all = Files.list(folder.resolve("states"))) {
            assertEquals(List.of(), all.toList());
        }
        assertEquals(
                "[OWNER_EXECUTE, OWNER_READ, OWNER_WRITE]",
                Files.getPosixFilePermissions(folder.resolve("states")).stream()
                        .sorted((a, b) -> a.name().compareTo(b.name()))
                        .toList()
                        .toString());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void changedBytesAreNotUsed() throws IOException {
        open();
        put(1);
        put(2);
        try (FileChannel bytes = FileChannel.open(opened(), StandardOpenOption.WRITE)) {
            bytes.write(ByteBuffer.wrap(new byte[] {(byte) (state(1)[BYTES - 5] ^ 8)}), BYTES - 5);
        }
        assertNull(file.take(1));
        assertFalse(file.has(2));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aCutFileIsNotUsed() throws IOException {
        open();
        put(1);
        put(2);
        try (FileChannel bytes = FileChannel.open(opened(), StandardOpenOption.WRITE)) {
            bytes.truncate(BYTES + 100);
        }
        assertTaken(1);
        assertNull(file.take(2));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theStateOfAnotherPageIsNotUsed() throws IOException {
        open();
        put(1);
        put(2);
        try (FileChannel bytes = FileChannel.open(opened(), StandardOpenOption.WRITE)) {
            bytes.write(ByteBuffer.wrap(state(2)), 0);
        }
        assertNull(file.take(1));
    }
}
