package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that change while they are mapped.
class ChangedFileTests {
    private static final int HEADER = 64;

    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void copy() throws IOException {
        path = folder.resolve("model.gguf");
        Files.copy(TestFiles.malformed("ok_model.gguf"), path);
        // Long ago, so that each write gives another time.
        Files.setLastModifiedTime(path, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
    }

    private static void truncate(Path file, long size) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(size);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void refused(GgufFile file, String found) {
        TenonException error = assertThrows(TenonException.class, file::requireUnchanged);
        assertEquals(ErrorCode.GGUF_CHANGED, error.code());
        assertTrue(error.getMessage().contains(found), error.getMessage());
        assertTrue(error.getMessage().length() < 200 + path(file).length(), error.getMessage());
    }

    private static String path(GgufFile file) {
        return file.path().toString();
    }

    @Test
    void aFileThatNobodyTouchesIsUnchanged() {
        try (GgufFile file = TestFiles.open(path)) {
            file.data(file.tensors().getFirst());
            assertDoesNotThrow(file::requireUnchanged);
        }
    }

    @Test
    void dataThatIsGoneReadsAsZerosAndTheCheckFails() {
        assumeTrue(guarded(), "nothing is guarded here");
        try (GgufFile file = TestFiles.open(path)) {
            MemorySegment last = file.data(file.tensors().getLast());
            file.requireUnchanged();
            truncate(path, HEADER);
            for (long i = 0; i < last.byteSize(); i++) {
                assertEquals(0, last.get(ValueLayout.JAVA_BYTE, i));
            }
            refused(file, "gone or cannot be read");
        }
        TestFiles.assertNotMapped("model.gguf");
    }

    @Test
    void aFileThatIsCutShortFailsTheCheckBeforeItsDataIsRead() {
        try (GgufFile file = TestFiles.open(path)) {
            long size = file.sizeBytes();
            truncate(path, HEADER);
            refused(file, "has " + HEADER + " bytes, and had " + size);
            refused(file, "has " + HEADER + " bytes, and had " + size);
        }
    }

    @Test
    void aFileThatGrowsFailsTheCheck() throws IOException {
        try (GgufFile file = TestFiles.open(path)) {
            Files.write(path, new byte[1], StandardOpenOption.APPEND);
            refused(file, "has " + (file.sizeBytes() + 1) + " bytes");
        }
    }

    @Test
    void aFileThatIsOverwrittenInPlaceFailsTheCheck() throws IOException {
        try (GgufFile file = TestFiles.open(path)) {
            Files.write(path, new byte[(int) file.sizeBytes()], StandardOpenOption.WRITE);
            refused(file, "was written to");
        }
    }

    @Test
    void aLinkThatPointsElsewhereIsNoChangeButAWriteToItsTargetIs() throws IOException {
        Path link = folder.resolve("link.gguf");
        Files.createSymbolicLink(link, path);
        try (GgufFile file = TestFiles.open(link)) {
            Files.delete(link);
            Files.createSymbolicLink(link, Files.write(folder.resolve("other"), new byte[3]));
            assertDoesNotThrow(file::requireUnchanged);
            truncate(path, HEADER);
            refused(file, "has " + HEADER + " bytes");
        }
    }

    @Test
    void aFileThatIsReplacedOrRemovedKeepsItsData() throws IOException {
        try (GgufFile file = TestFiles.open(path)) {
            MemorySegment data = file.data(file.tensors().getLast());
            byte[] before = data.toArray(ValueLayout.JAVA_BYTE);
            Path other = Files.write(folder.resolve("other"), new byte[10]);
            Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
            assertDoesNotThrow(file::requireUnchanged);
            Files.delete(path);
            assertDoesNotThrow(file::requireUnchanged);
            assertEquals(-1, MemorySegment.ofArray(before).mismatch(data));
        }
    }

    @Test
    void otherMappingsFailAsWithoutAGuard() throws IOException {
        assumeTrue(guarded(), "nothing is guarded here");
        Path other = Files.copy(path, folder.resolve("other.gguf"));
        try (GgufFile file = TestFiles.open(path);
                Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(other)) {
            file.data(file.tensors().getFirst());
            file.requireUnchanged();
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            truncate(other, 0);
            byte[] target = new byte[(int) mapped.byteSize()];
            // The JVM's own handler makes this error.
            assertThrows(
                    InternalError.class,
                    () -> MemorySegment.copy(mapped, ValueLayout.JAVA_BYTE, 0, target, 0, target.length));
            assertDoesNotThrow(file::requireUnchanged);
        }
    }

    @Test
    void theHandlerIsInstalledOnce() {
        assumeTrue(guarded(), "nothing is guarded here");
        assertEquals(FaultHandler.install().address(), FaultHandler.install().address());
    }

    @Test
    void aRangeThatWasReleasedIsGuardedNoMore() throws IOException {
        assumeTrue(guarded(), "nothing is guarded here");
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(path)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            FaultGuard.Range range = FaultGuard.guard(mapped);
            assertFalse(range.faulted());
            range.release();
            truncate(path, 0);
            byte[] target = new byte[(int) mapped.byteSize()];
            assertThrows(
                    InternalError.class,
                    () -> MemorySegment.copy(mapped, ValueLayout.JAVA_BYTE, 0, target, 0, target.length));
        }
    }

    private static boolean guarded() {
        try {
            FaultHandler.install();
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }
}
