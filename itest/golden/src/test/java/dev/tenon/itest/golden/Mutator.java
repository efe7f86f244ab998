package dev.tenon.itest.golden;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Changes a sound model in a few places: anywhere in its header, or where its counts, values, shapes and offsets are.
final class Mutator {
    private static final long[] SPLICES = {
        0,
        1,
        -1,
        2,
        3,
        8,
        9,
        255,
        65535,
        65536,
        1L << 24,
        (1L << 31) - 1,
        1L << 31,
        (1L << 32) - 1,
        1L << 32,
        1L << 40,
        1L << 60,
        1L << 62,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MIN_VALUE + 7,
        // NaN and infinities of float32
        0x7fc00000,
        0x7f800000,
        0xff800000L
    };
    /// Magic, version and counts.
    private static final int HEAD = 24;
    /// From the end of a name to where what is said of it ends: type and value, or shape, type and offset.
    private static final int SAID = 32;

    private final byte[] original;
    private final int header;
    /// Where names end.
    private final int[] names;

    Mutator(Path model) throws IOException {
        original = Files.readAllBytes(model);
        try (GgufFile file = GgufReader.open(model, TensorTypes.standard())) {
            header = (int) file.tensors().getFirst().offsetBytes();
            String text = new String(original, 0, header, StandardCharsets.ISO_8859_1);
            names = Stream.concat(
                            file.metadata().values().keySet().stream(),
                            file.tensors().stream().map(TensorInfo::name))
                    .flatMapToInt(name -> IntStream.of(text.indexOf(name) + name.length()))
                    .toArray();
        }
    }

    /// {@return a changed copy}
    ///
    /// @param random decides all
    byte[] mutate(SplittableRandom random) {
        byte[] bytes = original.clone();
        // Most often one: the more changes, the fewer files get past the reader.
        int changes = random.nextInt(4) == 0 ? 2 + random.nextInt(3) : 1;
        for (int i = 0; i < changes; i++) {
            int at = place(random);
            switch (random.nextInt(6)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                case 2 -> splice(bytes, at, 8, random);
                case 3 -> splice(bytes, at, 4, random);
                case 4 -> {
                    int length = Math.min(random.nextInt(64), header - at);
                    System.arraycopy(original, random.nextInt(header - length), bytes, at, length);
                }
                default -> {
                    if (random.nextInt(4) == 0) {
                        return Arrays.copyOf(bytes, random.nextInt(bytes.length));
                    }
                    bytes[at]++;
                }
            }
        }
        return bytes;
    }

    private int place(SplittableRandom random) {
        int kind = random.nextInt(16);
        if (kind == 0) {
            return random.nextInt(HEAD);
        }
        return kind < 6
                ? random.nextInt(header)
                : Math.min(names[random.nextInt(names.length)] + random.nextInt(SAID), header - 1);
    }

    private static void splice(byte[] bytes, int at, int width, SplittableRandom random) {
        if (at + width > bytes.length) {
            return;
        }
        long value = random.nextInt(3) == 0 ? random.nextLong() : SPLICES[random.nextInt(SPLICES.length)];
        ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (width == 8) {
            out.putLong(at, value);
        } else {
            out.putInt(at, (int) value);
        }
    }
}
