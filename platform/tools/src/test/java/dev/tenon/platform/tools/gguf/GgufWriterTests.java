package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GgufWriterTests {
    private static final TensorType F32 = TensorTypes.standard().find("F32").orElseThrow();
    private static final TensorType Q8_0 = TensorTypes.standard().find("Q8_0").orElseThrow();

    @TempDir
    Path folder;

    @Test
    void readingAndWritingGivesTheSameBytes() throws IOException {
        for (String name :
                List.of("ok_model.gguf", "ok_version_2.gguf", "ok_alignment_64.gguf", "ok_unknown_keys.gguf")) {
            Path copy = folder.resolve(name);
            try (GgufFile in = TestFiles.open(TestFiles.malformed(name))) {
                GgufWriter writer = GgufWriter.to(copy).version(in.version()).threads(3);
                writer.putAll(in.metadata().values());
                for (TensorInfo tensor : in.tensors()) {
                    TensorType type =
                            TensorTypes.standard().find(tensor.ggmlType()).orElseThrow();
                    long rowBytes = type.bytesFor(tensor.cols());
                    MemorySegment data = in.data(tensor);
                    writer.tensor(
                            tensor.name(),
                            type,
                            tensor.shape(),
                            (target, first, rows) ->
                                    MemorySegment.copy(data, first * rowBytes, target, 0, rows * rowBytes));
                }
                assertEquals(in.sizeBytes(), writer.write());
            }
            assertEquals(-1, Files.mismatch(TestFiles.malformed(name), copy), name);
        }
    }

    @Test
    void nestedArraysKeepTheirTypes() {
        Path path = folder.resolve("nested.gguf");
        GgufValue bytes = new GgufValue(GgufType.ARRAY, GgufType.UINT8, new long[] {1, 255});
        GgufValue texts = GgufValue.of(new String[] {"a", "\u6f22"});
        GgufWriter.to(path)
                .put("nested", new GgufValue(GgufType.ARRAY, GgufType.ARRAY, new Object[] {bytes, texts}))
                .write();
        try (GgufFile file = TestFiles.open(path)) {
            Object[] found = (Object[]) file.metadata().values().get("nested").value();
            assertEquals(GgufType.UINT8, ((GgufValue) found[0]).elementType());
            assertArrayEquals(new long[] {1, 255}, (long[]) ((GgufValue) found[0]).value());
            assertArrayEquals(new String[] {"a", "\u6f22"}, (String[]) ((GgufValue) found[1]).value());
        }
    }

    @Test
    void severalThreadsWriteEveryRowOnce() {
        Path path = folder.resolve("rows.gguf");
        long rows = 30_001;
        List<Long> progress = new ArrayList<>();
        GgufWriter.to(path)
                .threads(4)
                .progress((done, total) -> progress.add(done))
                .tensor("a", F32, List.of(100L, rows), (target, first, n) -> {
                    for (long row = 0; row < n; row++) {
                        for (int col = 0; col < 100; col++) {
                            target.set(TestFiles.FLOAT, (row * 100 + col) * 4, first + row);
                        }
                    }
                })
                .tensor("b", F32, List.of(3L), (target, first, n) -> target.fill((byte) 0))
                .write();
        assertEquals(100 * rows * 4 + 12, progress.getLast());
        assertEquals(progress.stream().sorted().toList(), progress);
        try (GgufFile file = TestFiles.open(path)) {
            MemorySegment data = file.data(file.tensor("a").orElseThrow());
            for (long row = 0; row < rows; row++) {
                assertEquals((float) row, data.get(TestFiles.FLOAT, row * 400 + 396));
            }
        }
    }

    @Test
    void failingTensorLeavesNothingBehind() throws IOException {
        Path path = folder.resolve("failed.gguf");
        TenonException cause = new TenonException(ErrorCode.MODEL_DATA, "no data");
        GgufWriter writer = GgufWriter.to(path).threads(2).tensor("t", F32, List.of(1L << 20, 8L), (t, first, n) -> {
            throw cause;
        });
        assertSame(cause, assertThrows(TenonException.class, writer::write));
        try (var files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void existingFileIsReplacedOnlyWhenAllowed() throws IOException {
        Path path = Files.writeString(folder.resolve("old.gguf"), "precious");
        TenonException error =
                assertThrows(TenonException.class, () -> GgufWriter.to(path).write());
        assertEquals(ErrorCode.IO, error.code());
        assertEquals("precious", Files.readString(path));
        GgufWriter.to(path).replaceExisting(true).write();
        try (GgufFile file = TestFiles.open(path)) {
            assertTrue(file.tensors().isEmpty());
        }
    }

    @Test
    void folderThatDoesNotExistIsAnIoError() {
        Path path = folder.resolve("nowhere").resolve("x.gguf");
        TenonException error =
                assertThrows(TenonException.class, () -> GgufWriter.to(path).write());
        assertEquals(ErrorCode.IO, error.code());
    }

    @Test
    void directoryAsTargetIsAnIoError() {
        assertEquals(
                ErrorCode.IO,
                assertThrows(TenonException.class, () -> GgufWriter.to(folder).write())
                        .code());
        assertThrows(TenonException.class, () -> GgufWriter.to(folder.getRoot()).write());
    }

    @Test
    void impossibleArgumentsAreRefused() {
        GgufWriter writer = GgufWriter.to(folder.resolve("x.gguf"));
        writer.tensor("t", F32, List.of(1L), (target, first, rows) -> {});
        assertArgument(() -> writer.tensor("t", F32, List.of(1L), (target, first, rows) -> {}));
        assertArgument(() -> writer.tensor("u", Q8_0, List.of(33L), (target, first, rows) -> {}));
        assertArgument(() -> writer.tensor("u", F32, List.of(), (target, first, rows) -> {}));
        assertArgument(() -> writer.tensor("u", F32, List.of(1L, 0L), (target, first, rows) -> {}));
        assertArgument(() -> writer.tensor("a\0b", F32, List.of(1L), (target, first, rows) -> {}));
        assertArgument(() -> writer.version(1));
        assertArgument(() -> writer.threads(0));
        assertArgument(
                () -> writer.put("general.alignment", GgufValue.ofUint32(3)).write());
    }

    @Test
    void valueOfTheWrongJavaTypeIsRefused() {
        GgufWriter writer = GgufWriter.to(folder.resolve("x.gguf"));
        writer.put("k", new GgufValue(GgufType.UINT32, null, "text"));
        assertArgument(writer::write);
    }

    private static void assertArgument(Runnable action) {
        assertEquals(
                ErrorCode.ARGUMENT,
                assertThrows(TenonException.class, action::run).code());
    }
}
