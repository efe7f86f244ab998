package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class RequantizerTests {
    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> q8FileEqualsTheGoldenOneByteForByte() {
        return Stream.of("llama-gqa", "qwen3")
                .map(name -> dynamicTest(name, () -> {
                    Path out = folder.resolve(name + ".gguf");
                    Path golden = TestFiles.shared("golden/models/" + name + ".q8_0.gguf");
                    try (GgufFile in = TestFiles.open(TestFiles.shared("golden/models/" + name + ".f16.gguf"))) {
                        long size = Requantizer.quantize(in, GgufWriter.to(out).threads(2), "Q8_0", TestFormats.all());
                        assertEquals(Files.size(golden), size);
                    }
                    assertEquals(-1, Files.mismatch(golden, out));
                }));
    }

    @Test
    void mixHasTheLayoutOfTheGoldenFile() {
        Path out = folder.resolve("mix.gguf");
        try (GgufFile in = TestFiles.open(TestFiles.shared("golden/models/llama-gqa.f16.gguf"));
                GgufFile golden = TestFiles.open(TestFiles.shared("golden/models/llama-gqa.q4_k_m.gguf"))) {
            Requantizer.quantize(in, GgufWriter.to(out).threads(2), "Q4_K_M", TestFormats.all());
            try (GgufFile made = TestFiles.open(out)) {
                assertEquals(golden.tensors(), made.tensors());
                assertEquals(
                        List.copyOf(golden.metadata().values().keySet()),
                        List.copyOf(made.metadata().values().keySet()));
                assertEquals(golden.sizeBytes(), made.sizeBytes());
            }
        }
    }

    @Test
    void normsAreCopiedAndRowsThatDoNotFitFallBack() throws IOException {
        Path out = folder.resolve("q6.gguf");
        try (GgufFile in = TestFiles.open(TestFiles.malformed("ok_model.gguf"))) {
            Requantizer.quantize(in, GgufWriter.to(out).threads(1), "Q6_K", TestFormats.all());
            try (GgufFile made = TestFiles.open(out)) {
                assertEquals(in.tensors().size(), made.tensors().size());
                assertEquals(18, made.metadata().requiredInteger("general.file_type"));
                assertEquals(2, made.metadata().requiredInteger("general.quantization_version"));
                for (TensorInfo tensor : made.tensors()) {
                    TensorInfo source = in.tensor(tensor.name()).orElseThrow();
                    assertEquals(source.shape(), tensor.shape());
                    assertEquals(tensor.shape().size() == 1 ? 0 : 8, tensor.ggmlType(), tensor.name());
                    if (tensor.ggmlType() == 0) {
                        assertEquals(-1, in.data(source).mismatch(made.data(tensor)), tensor.name());
                    }
                }
            }
        }
    }

    @Test
    void notANumberIsRefused() throws IOException {
        Path out = folder.resolve("nan.gguf");
        try (GgufFile in = TestFiles.open(TestFiles.malformed("nan_weight.gguf"))) {
            ModelFormatException error = assertThrows(
                    ModelFormatException.class,
                    () -> Requantizer.quantize(in, GgufWriter.to(out).threads(2), "Q8_0", TestFormats.all()));
            assertEquals(ErrorCode.MODEL_DATA, error.code());
            assertTrue(error.getMessage().contains("blk.0.attn_q.weight"), error.getMessage());
        }
        try (var files = Files.list(folder)) {
            assertFalse(files.findAny().isPresent());
        }
    }

    @Test
    void aModelThatIsCutShortMeanwhileIsRefused() throws IOException {
        Path source = folder.resolve("source.gguf");
        Files.copy(TestFiles.malformed("ok_model.gguf"), source);
        try (GgufFile in = TestFiles.open(source)) {
            TenonException error = assertThrows(
                    TenonException.class,
                    () -> Requantizer.quantize(
                            in,
                            GgufWriter.to(folder.resolve("out.gguf")).threads(1).progress((done, total) -> {
                                try (FileChannel channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
                                    channel.truncate(64);
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            }),
                            "Q8_0",
                            TestFormats.all()));
            assertEquals(ErrorCode.GGUF_CHANGED, error.code());
        }
        try (var files = Files.list(folder)) {
            assertEquals(List.of(source), files.toList());
        }
    }

    @Test
    void inputFormatThatIsNotInstalledIsRefused() {
        try (GgufFile in = TestFiles.open(TestFiles.malformed("ok_model.gguf"))) {
            UnsupportedModelException error = assertThrows(
                    UnsupportedModelException.class,
                    () -> Requantizer.quantize(
                            in,
                            GgufWriter.to(folder.resolve("x.gguf")).threads(1),
                            "Q8_0",
                            List.of(new TestFormats.Q8_0())));
            assertEquals(ErrorCode.MODEL_TENSOR_FORMAT, error.code());
            assertTrue(error.getMessage().contains("F16"), error.getMessage());
        }
    }
}
