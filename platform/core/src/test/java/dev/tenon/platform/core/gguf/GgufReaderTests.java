package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.TensorInfo;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgufReaderTests {
    private static final TensorType F32 = TensorTypes.standard().find("F32").orElseThrow();

    @TempDir
    Path folder;

    @Test
    void versionsTwoAndThreeAreReadAlike() {
        try (GgufFile three = TestFiles.open(TestFiles.malformed("ok_model.gguf"));
                GgufFile two = TestFiles.open(TestFiles.malformed("ok_version_2.gguf"))) {
            assertEquals(3, three.version());
            assertEquals(2, two.version());
            assertEquals(three.tensors(), two.tensors());
            assertEquals(
                    three.metadata().values().keySet(), two.metadata().values().keySet());
            assertEquals(11, three.tensors().size());
            assertEquals(
                    new TensorInfo("blk.0.attn_k.weight", 1, List.of(32L, 16L), 0, 19008 + 5088, 1024),
                    three.tensor("blk.0.attn_k.weight").orElseThrow());
            assertEquals(34464, three.sizeBytes());
        }
    }

    @Test
    void alignment64IsFollowed() {
        try (GgufFile file = TestFiles.open(TestFiles.malformed("ok_alignment_64.gguf"))) {
            long end = 0;
            for (TensorInfo tensor : file.tensors()) {
                assertEquals(0, tensor.offsetBytes() % 64, tensor.name());
                end = tensor.offsetBytes() + tensor.sizeBytes();
            }
            assertTrue(file.sizeBytes() - end < 64, "the last tensor ends at " + end);
            MemorySegment norm = file.data(file.tensor("output_norm.weight").orElseThrow());
            for (int i = 0; i < 32; i++) {
                float value = norm.get(GgufCursor.FLOAT, 4L * i);
                assertTrue(value > 0.5 && value < 2, "norm " + i + " is " + value);
            }
        }
    }

    @Test
    void everyValueTypeIsRead() {
        try (GgufFile file = TestFiles.open(TestFiles.malformed("ok_unknown_keys.gguf"))) {
            var values = file.metadata().values();
            assertEquals(200L, values.get("custom.t0").value());
            assertEquals(-5L, values.get("custom.t1").value());
            assertEquals(60000L, values.get("custom.t2").value());
            assertEquals(-30000L, values.get("custom.t3").value());
            assertEquals(4000000000L, values.get("custom.t4").value());
            assertEquals(-2000000000L, values.get("custom.t5").value());
            assertEquals(1.5f, values.get("custom.t6").value());
            assertEquals(true, values.get("custom.t7").value());
            assertEquals("h\u00e9llo \u6f22", values.get("custom.t8").value());
            assertEquals(
                    Long.parseUnsignedLong("9223372036854775813"),
                    values.get("custom.t10").value());
            assertEquals(-4611686018427387904L, values.get("custom.t11").value());
            assertEquals(2.25, values.get("custom.t12").value());
            assertArrayEquals(
                    new long[] {200, 200, 200}, (long[]) values.get("custom.a0").value());
            assertArrayEquals(new float[] {1.5f, 1.5f, 1.5f}, (float[])
                    values.get("custom.a6").value());
            assertArrayEquals(new boolean[] {true, true, true}, (boolean[])
                    values.get("custom.a7").value());
            assertEquals(
                    "h\u00e9llo \u6f22", ((String[]) values.get("custom.a8").value())[2]);
            assertArrayEquals(new double[] {2.25, 2.25, 2.25}, (double[])
                    values.get("custom.a12").value());
            assertEquals(0, ((String[]) values.get("custom.empty").value()).length);
            assertEquals(GgufType.UINT16, values.get("custom.a2").elementType());
        }
    }

    @Test
    void closingInvalidatesSegmentsAndMayBeRepeated() {
        GgufFile file = TestFiles.open(TestFiles.malformed("ok_model.gguf"));
        TensorInfo tensor = file.tensors().getFirst();
        MemorySegment data = file.data(tensor);
        assertTrue(data.isReadOnly());
        data.get(ValueLayout.JAVA_BYTE, 0);
        file.close();
        file.close();
        assertThrows(IllegalStateException.class, () -> data.get(ValueLayout.JAVA_BYTE, 0));
        TenonException error = assertThrows(TenonException.class, () -> file.data(tensor));
        assertEquals(ErrorCode.CLOSED, error.code());
        TestFiles.assertNotMapped("ok_model.gguf");
    }

    @Test
    void tensorOfAnotherFileIsRefused() {
        try (GgufFile file = TestFiles.open(TestFiles.malformed("ok_model.gguf"))) {
            TensorInfo foreign = new TensorInfo("output_norm.weight", 0, List.of(1L << 40), 0, 0, 1L << 42);
            TenonException error = assertThrows(TenonException.class, () -> file.data(foreign));
            assertEquals(ErrorCode.ARGUMENT, error.code());
        }
    }

    @Test
    void fileOfMoreThanTwoGibibytesIsRead() throws IOException {
        Path path = folder.resolve("large.gguf");
        long rows = (1L << 29) + 64;
        ByteBuffer header = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(2).putLong(0);
        info(header, "big", 0, 0, 4, rows / 4);
        info(header, "after", 0, rows * 4, 4);
        long after = 128 + rows * 4;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            assumeTrue(folder.toFile().getUsableSpace() > 1 << 26, "no space for a sparse file");
            file.setLength(after + 16);
            file.write(header.array(), 0, header.position());
            file.seek(after);
            file.write(new byte[] {0, 0, (byte) 0x80, 0x3f, 0, 0, 0, 0x40});
        } catch (IOException e) {
            assumeTrue(false, "this file system makes no sparse files: " + e);
        }
        try (GgufFile file = TestFiles.open(path)) {
            TensorInfo tensor = file.tensor("after").orElseThrow();
            assertTrue(tensor.offsetBytes() > 1L << 31);
            assertEquals(1f, file.data(tensor).get(GgufCursor.FLOAT, 0));
            assertEquals(2f, file.data(tensor).get(GgufCursor.FLOAT, 4));
            MemorySegment big = file.data(file.tensor("big").orElseThrow());
            assertEquals(rows * 4, big.byteSize());
            assertEquals(0f, big.get(GgufCursor.FLOAT, big.byteSize() - 4));
        } finally {
            Files.delete(path);
        }
    }

    @Test
    void otherKindsOfFileAreNamed() throws IOException {
        assertMagic("hello world, this is a text\n".getBytes(StandardCharsets.UTF_8), "text file");
        assertMagic("<!DOCTYPE html><html>".getBytes(StandardCharsets.UTF_8), "web page");
        assertMagic("version https://git-lfs.github.com/spec/v1\n".getBytes(StandardCharsets.UTF_8), "git lfs pull");
        assertMagic(new byte[] {'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}, "zip");
        assertMagic(new byte[] {31, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, "compressed");
        assertMagic(new byte[] {2, 0, 0, 0, 0, 0, 0, 0, '{', '}', 0, 0}, "safetensors");
        assertMagic(new byte[] {'G', 'G'}, "text file");
        assertMagic(new byte[] {1}, "starts with 01");
        assertMagic(new byte[0], "empty");
    }

    @Test
    void bigEndianFileIsRefusedAsSuch() throws IOException {
        byte[] head = ByteBuffer.allocate(64)
                .put("GGUF".getBytes(StandardCharsets.US_ASCII))
                .putInt(3)
                .array();
        Path path = Files.write(folder.resolve("big.gguf"), head);
        UnsupportedModelException error = assertThrows(UnsupportedModelException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.GGUF_VERSION, error.code());
        assertTrue(error.getMessage().contains("big-endian"), error.getMessage());
    }

    @Test
    void withdrawnTypeIsNamed() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(1).putLong(0);
        info(header, "t", 31, 0, 32);
        Path path = Files.write(folder.resolve("old.gguf"), header.array());
        UnsupportedModelException error = assertThrows(UnsupportedModelException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.GGUF_TENSOR_TYPE, error.code());
        assertTrue(error.getMessage().contains("Q4_0_4_4"), error.getMessage());
    }

    @Test
    void zeroLengthDimensionIsRefused() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(1).putLong(0);
        info(header, "t", 0, 0, 32, 0);
        Path path = Files.write(folder.resolve("zero.gguf"), header.array());
        assertEquals(
                ErrorCode.GGUF_SHAPE,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(path))
                        .code());
    }

    @Test
    void rowShorterThanOneBlockIsRefused() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(1).putLong(0);
        info(header, "t", 8, 0, 16, 2);
        Path path = Files.write(folder.resolve("row.gguf"), header.array());
        assertEquals(
                ErrorCode.GGUF_SHAPE,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(path))
                        .code());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, b", "0, 32, b", "32, 0, a", "64, 32, a", "32, 32, b", "0, 64,", "64, 0,", "96, 0,"})
    void tensorsThatOverlapAreRefused(long first, long second, String named) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(512).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(2).putLong(0);
        info(header, "a", 0, first, 16);
        info(header, "b", 0, second, 16);
        Path path = Files.write(folder.resolve("overlap.gguf"), header.array());
        if (named == null) {
            TestFiles.open(path).close();
            return;
        }
        ModelFormatException error = assertThrows(ModelFormatException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.GGUF_OFFSET, error.code());
        assertTrue(error.getMessage().contains("Tensor " + named + " in"), error.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u001b[2J", "a\nb", "a\u0000", "\u007f", "a\u009b2J"})
    void namesWithControlCharactersAreRefused(String name) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(512).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(1).putLong(0);
        info(header, name, 0, 0, 16);
        Path path = Files.write(folder.resolve("control.gguf"), header.array());
        ModelFormatException error = assertThrows(ModelFormatException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.GGUF_NAME, error.code());
    }

    @Test
    void longKeyIsNotCopiedForEachNestedArray() throws IOException {
        int arrays = 200_000;
        ByteBuffer header =
                ByteBuffer.allocate(24 + 8 + 60000 + 16 + arrays * 12).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(GgufHeader.MAGIC).putInt(3).putLong(0).putLong(1).putLong(60000);
        header.position(header.position() + 60000);
        Arrays.fill(header.array(), 32, 60032, (byte) 'k');
        header.putInt(9).putInt(9).putLong(arrays);
        for (int i = 0; i < arrays; i++) {
            header.putInt(0).putLong(0);
        }
        Path path = Files.write(folder.resolve("nested.gguf"), header.array());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        try (GgufFile file = TestFiles.open(path)) {
            assertEquals(1, file.metadata().values().size());
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 200_000_000, allocated + " bytes were allocated; all copies of the key take 12 GB");
    }

    @Test
    void missingFileDirectoryAndDeviceAreRefused() {
        assertIo(folder.resolve("nowhere.gguf"), "does not exist");
        assertIo(folder, "is a directory");
        Path device = Path.of("/dev/null");
        assumeTrue(Files.exists(device), "no /dev/null here");
        assertIo(device, "device");
    }

    @Test
    void unreadableFileIsRefused() throws IOException {
        Path path = Files.write(folder.resolve("secret.gguf"), new byte[100]);
        assumeTrue(Files.getFileStore(path).supportsFileAttributeView("posix"), "the file system has no permissions");
        Files.setPosixFilePermissions(path, Set.of());
        assumeFalse(Files.isReadable(path), "this user may read every file");
        assertIo(path, "may not be read");
    }

    private void assertMagic(byte[] content, String hint) throws IOException {
        Path path = Files.write(folder.resolve("other.bin"), content);
        ModelFormatException error = assertThrows(ModelFormatException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.GGUF_MAGIC, error.code());
        assertTrue(error.getMessage().contains(hint), error.getMessage());
        assertFalse(error.getMessage().contains("null"), error.getMessage());
    }

    private static void assertIo(Path path, String hint) {
        TenonException error = assertThrows(TenonException.class, () -> TestFiles.open(path));
        assertEquals(ErrorCode.IO, error.code());
        assertTrue(error.getMessage().contains(hint), error.getMessage());
    }

    static void info(ByteBuffer out, String name, int type, long offset, long... shape) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        out.putLong(bytes.length).put(bytes).putInt(shape.length);
        for (long length : shape) {
            out.putLong(length);
        }
        out.putInt(type).putLong(offset);
    }
}
