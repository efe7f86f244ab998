package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that the writer made, as the reader reads them: models in parts, and a large vocabulary.
class WrittenFilesTests {
    private static final TensorType F32 = TensorTypes.standard().find("F32").orElseThrow();

    @TempDir
    Path folder;

    @Test
    void anyPartOfASplitSetOpensAll() {
        writeParts(3);
        for (int part = 1; part <= 3; part++) {
            try (GgufFile file = TestFiles.open(part(part, 3))) {
                assertEquals(part(1, 3), file.path());
                assertEquals(3, file.tensors().size());
                assertEquals("llama", file.metadata().requiredString("general.architecture"));
                for (int i = 0; i < 3; i++) {
                    TensorInfo tensor = file.tensor("t" + (i + 1)).orElseThrow();
                    assertEquals(i, tensor.part());
                    assertEquals(i + 1f, file.data(tensor).get(TestFiles.FLOAT, 0));
                }
            }
        }
        TestFiles.assertNotMapped(folder.toString());
    }

    @Test
    void firstPartMayHoldMetadataAlone() {
        split(1, 2, 2).put("general.architecture", GgufValue.of("llama")).write();
        tensor(tensor(split(2, 2, 2), 1), 2).write();
        for (int part = 1; part <= 2; part++) {
            try (GgufFile file = TestFiles.open(part(part, 2))) {
                assertEquals("llama", file.metadata().requiredString("general.architecture"));
                assertEquals(2f, file.data(file.tensor("t2").orElseThrow()).get(TestFiles.FLOAT, 0));
            }
        }
    }

    @Test
    void metadataIsThatOfTheFirstPart() {
        tensor(split(1, 2, 2), 1)
                .put("general.architecture", GgufValue.of("llama"))
                .put("general.alignment", GgufValue.ofUint32(64))
                .write();
        tensor(split(2, 2, 2), 2)
                .put("general.architecture", GgufValue.of("other"))
                .put("made.by", GgufValue.of("x"))
                .write();
        try (GgufFile file = TestFiles.open(part(2, 2))) {
            assertEquals("llama", file.metadata().requiredString("general.architecture"));
            assertFalse(file.metadata().has("made.by"));
            assertEquals(1f, file.data(file.tensor("t1").orElseThrow()).get(TestFiles.FLOAT, 0));
            assertEquals(2f, file.data(file.tensor("t2").orElseThrow()).get(TestFiles.FLOAT, 0));
        }
    }

    @Test
    void missingPartIsNamed() throws IOException {
        writeParts(3);
        Files.delete(part(2, 3));
        ModelFormatException error = assertThrows(ModelFormatException.class, () -> TestFiles.open(part(1, 3)));
        assertEquals(ErrorCode.GGUF_SPLIT, error.code());
        assertTrue(error.getMessage().contains("model-00002-of-00003.gguf"), error.getMessage());
        TestFiles.assertNotMapped(folder.toString());
    }

    @Test
    void renamedPartIsRefused() throws IOException {
        writeParts(2);
        Path renamed = Files.move(part(1, 2), folder.resolve("renamed.gguf"));
        assertEquals(
                ErrorCode.GGUF_SPLIT,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(renamed))
                        .code());
    }

    @Test
    void swappedPartsAreRefused() throws IOException {
        writeParts(2);
        Files.move(part(1, 2), folder.resolve("x"));
        Files.move(part(2, 2), part(1, 2));
        Files.move(folder.resolve("x"), part(2, 2));
        assertEquals(
                ErrorCode.GGUF_SPLIT,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(part(1, 2)))
                        .code());
        TestFiles.assertNotMapped(folder.toString());
    }

    @Test
    void partsWithOneTensorTooFewAreRefused() {
        writePart(1, 1, 2, 5);
        writePart(2, 2, 2, 5);
        assertEquals(
                ErrorCode.GGUF_SPLIT,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(part(1, 2)))
                        .code());
    }

    @Test
    void tensorInTwoPartsIsRefused() {
        writePart(1, 1, 2, 2);
        writePart(2, 1, 2, 2);
        assertEquals(
                ErrorCode.GGUF_NAME,
                assertThrows(ModelFormatException.class, () -> TestFiles.open(part(1, 2)))
                        .code());
    }

    @Test
    void largeVocabularyIsRead() {
        Path path = folder.resolve("vocabulary.gguf");
        String[] tokens = new String[152_000];
        String[] merges = new String[152_000];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = (i % 2 == 0 ? "\u0120" : "") + "token" + i;
            merges[i] = "\u0120tok en" + i;
        }
        GgufWriter.to(path)
                .put("tokenizer.ggml.tokens", GgufValue.of(tokens))
                .put("tokenizer.ggml.merges", GgufValue.of(merges))
                .write();
        try (GgufFile file = TestFiles.open(path)) {
            assertArrayEquals(
                    tokens, file.metadata().strings("tokenizer.ggml.tokens").orElseThrow());
            assertArrayEquals(
                    merges, file.metadata().strings("tokenizer.ggml.merges").orElseThrow());
        }
    }

    private void writeParts(int count) {
        for (int part = 1; part <= count; part++) {
            writePart(part, part, count, count);
        }
    }

    private void writePart(int part, int tensor, int count, int tensors) {
        GgufWriter writer = split(part, count, tensors);
        if (part == 1) {
            writer.put("general.architecture", GgufValue.of("llama"));
        }
        tensor(writer, tensor).write();
    }

    private GgufWriter split(int part, int count, int tensors) {
        return GgufWriter.to(part(part, count))
                .put("split.no", new GgufValue(GgufType.UINT16, null, part - 1L))
                .put("split.count", new GgufValue(GgufType.UINT16, null, (long) count))
                .put("split.tensors.count", new GgufValue(GgufType.INT32, null, (long) tensors));
    }

    private static GgufWriter tensor(GgufWriter writer, int number) {
        return writer.tensor("t" + number, F32, List.of(4L), (target, first, rows) -> {
            for (int i = 0; i < 4; i++) {
                target.set(TestFiles.FLOAT, 4L * i, number);
            }
        });
    }

    private Path part(int part, int count) {
        return folder.resolve(String.format("model-%05d-of-%05d.gguf", part, count));
    }
}
