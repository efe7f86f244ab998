package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Files are read as they are written, and broken ones are refused with a code: never another failure, never memory
/// beyond the file.
final class GgufContract {
    private static final int CHANGED = 2_000;
    private static final int GROUPS = 40;
    private static final String TENSOR = "blk.0.weight";
    private static final long[] EXTREMES = {
        0, 1, -1, 2, 255, 65_536, Integer.MAX_VALUE, 1L << 31, 1L << 32, 1L << 60, Long.MAX_VALUE, Long.MIN_VALUE
    };

    private static volatile List<QuantFormat> formats;

    @TempDir
    Path folder;

    static void select(List<QuantFormat> known) {
        formats = known;
    }

    private static TinyGguf sound() {
        return new TinyGguf()
                .put("general.architecture", GgufValue.of("tiny"))
                .put("tiny.count", GgufValue.ofUint32(7))
                .put("general.alignment", GgufValue.ofUint32(32))
                .put("tiny.names", GgufValue.of(new String[] {"a", "b"}))
                .tensor(TENSOR, 0, List.of(8L, 4L), TinyGguf.f32(new float[32]));
    }

    private static int header() {
        return new String(sound().bytes(), StandardCharsets.ISO_8859_1).indexOf(TENSOR) + TENSOR.length() + 32;
    }

    private GgufFile open(String name, byte[] bytes) throws IOException {
        return GgufReader.open(Files.write(folder.resolve(name), bytes), TensorTypes.of(formats));
    }

    @TestFactory
    Stream<DynamicTest> tensorsOfEachFormatAreReadAsTheyWereWritten() {
        return formats.stream()
                .map(format -> dynamicTest(format.id(), () -> {
                    byte[] data = new byte[3 * format.blockBytes()];
                    new SplittableRandom(1).nextBytes(data);
                    byte[] bytes = new TinyGguf()
                            .put("general.architecture", GgufValue.of("tiny"))
                            .tensor("t", format.ggmlType(), List.of((long) format.blockSize(), 3L), data)
                            .bytes();
                    try (GgufFile file = open(format.id() + ".gguf", bytes)) {
                        TensorInfo tensor = file.tensors().getFirst();
                        assertEquals(data.length, tensor.sizeBytes());
                        assertArrayEquals(data, file.data(tensor).toArray(ValueLayout.JAVA_BYTE));
                    }
                }));
    }

    /// A change to the bytes of a sound file, and the code that it is refused with.
    private record Broken(String code, Consumer<ByteBuffer> change) {}

    private static Map<String, Broken> broken() {
        byte[] bytes = sound().bytes();
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int kind = text.indexOf("tiny.count") + "tiny.count".length();
        int array = text.indexOf("tiny.names") + "tiny.names".length();
        int alignment = text.indexOf("general.alignment") + "general.alignment".length();
        int shape = text.indexOf(TENSOR) + TENSOR.length();
        Map<String, Broken> cases = new LinkedHashMap<>();
        cases.put("magic", new Broken(ErrorCode.GGUF_MAGIC, b -> b.putInt(0, 0x6c6d6767)));
        cases.put("version 0", new Broken(ErrorCode.GGUF_VERSION, b -> b.putInt(4, 0)));
        cases.put("version 1", new Broken(ErrorCode.GGUF_VERSION, b -> b.putInt(4, 1)));
        cases.put("version 99", new Broken(ErrorCode.GGUF_VERSION, b -> b.putInt(4, 99)));
        cases.put("tensors below zero", new Broken(ErrorCode.GGUF_HEADER, b -> b.putLong(8, -1)));
        cases.put("too many tensors", new Broken(ErrorCode.GGUF_HEADER, b -> b.putLong(8, 1L << 60)));
        cases.put("too many keys", new Broken(ErrorCode.GGUF_HEADER, b -> b.putLong(16, 1L << 60)));
        cases.put("length of a key", new Broken(ErrorCode.GGUF_HEADER, b -> b.putLong(24, 1L << 60)));
        cases.put("type of a value", new Broken(ErrorCode.GGUF_HEADER, b -> b.putInt(kind, 77)));
        cases.put("type of elements", new Broken(ErrorCode.GGUF_HEADER, b -> b.putInt(array + 4, 77)));
        cases.put("number of elements", new Broken(ErrorCode.GGUF_HEADER, b -> b.putLong(array + 8, 1L << 60)));
        cases.put("alignment 3", new Broken(ErrorCode.GGUF_HEADER, b -> b.putInt(alignment + 4, 3)));
        cases.put("alignment 0", new Broken(ErrorCode.GGUF_HEADER, b -> b.putInt(alignment + 4, 0)));
        cases.put("no UTF-8 in a key", new Broken(ErrorCode.GGUF_NAME, b -> b.put(32, (byte) 0xff)));
        cases.put("NUL in a tensor's name", new Broken(ErrorCode.GGUF_NAME, b -> b.put(shape - 1, (byte) 0)));
        cases.put("five dimensions", new Broken(ErrorCode.GGUF_SHAPE, b -> b.putInt(shape, 5)));
        cases.put("dimension below zero", new Broken(ErrorCode.GGUF_SHAPE, b -> b.putLong(shape + 4, -8)));
        cases.put("more bytes than a long", new Broken(ErrorCode.GGUF_SHAPE, b -> b.putLong(shape + 4, 1L << 62)));
        cases.put("type of a tensor", new Broken(ErrorCode.GGUF_TENSOR_TYPE, b -> b.putInt(shape + 20, 9999)));
        cases.put("offset off the alignment", new Broken(ErrorCode.GGUF_OFFSET, b -> b.putLong(shape + 24, 1)));
        cases.put("offset beyond the end", new Broken(ErrorCode.GGUF_OFFSET, b -> b.putLong(shape + 24, 1 << 20)));
        return cases;
    }

    @TestFactory
    Stream<DynamicTest> aBrokenFileIsRefusedWithItsCode() {
        return broken().entrySet().stream()
                .map(each -> dynamicTest(each.getKey(), () -> {
                    byte[] bytes = sound().bytes();
                    each.getValue().change().accept(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
                    TenonException refused = assertThrows(
                            TenonException.class,
                            () -> open("broken.gguf", bytes).close());
                    assertEquals(each.getValue().code(), refused.code(), refused.getMessage());
                }));
    }

    @TestFactory
    Stream<DynamicTest> aFileThatEndsEarlyIsRefused() {
        byte[] bytes = sound().bytes();
        int header = header();
        return IntStream.range(0, (header + 7) / 8)
                .mapToObj(group -> dynamicTest("from byte " + 8 * group, () -> {
                    for (int length = 8 * group; length < Math.min(header, 8 * group + 8); length++) {
                        byte[] cut = Arrays.copyOf(bytes, length);
                        assertThrows(
                                TenonException.class,
                                () -> open("cut.gguf", cut).close(),
                                length + " bytes");
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> aChangedFileIsReadOrRefused() {
        byte[] sound = sound().bytes();
        int header = header();
        return IntStream.range(0, GROUPS)
                .mapToObj(group -> dynamicTest("seeds from " + group * CHANGED / GROUPS, () -> {
                    for (int seed = group * CHANGED / GROUPS; seed < (group + 1) * CHANGED / GROUPS; seed++) {
                        byte[] bytes = sound.clone();
                        change(bytes, header, new SplittableRandom(seed));
                        try (GgufFile file = open("changed.gguf", bytes)) {
                            for (TensorInfo tensor : file.tensors()) {
                                file.data(tensor).get(ValueLayout.JAVA_BYTE, tensor.sizeBytes() - 1);
                            }
                        } catch (TenonException refused) {
                            assertFalse(refused.code().isEmpty(), "seed " + seed);
                        } catch (RuntimeException other) {
                            throw new AssertionError("seed " + seed, other);
                        }
                    }
                }));
    }

    private static void change(byte[] bytes, int header, SplittableRandom random) {
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            int at = random.nextInt(header);
            if (random.nextBoolean() && at + 8 <= bytes.length) {
                ByteBuffer.wrap(bytes)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(at, EXTREMES[random.nextInt(EXTREMES.length)]);
            } else {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
            }
        }
    }
}
