package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.FormatCode;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.pack.PackCode;
import dev.tenon.quant.formats.IQ1_MFormat;
import dev.tenon.quant.formats.IQ1_SFormat;
import dev.tenon.quant.formats.IQ2_SFormat;
import dev.tenon.quant.formats.IQ2_XSFormat;
import dev.tenon.quant.formats.IQ2_XXSFormat;
import dev.tenon.quant.formats.IQ3_SFormat;
import dev.tenon.quant.formats.IQ3_XXSFormat;
import dev.tenon.quant.formats.IQ4_NLFormat;
import dev.tenon.quant.formats.IQ4_XSFormat;
import dev.tenon.quant.formats.MXFP4Format;
import dev.tenon.quant.formats.NVFP4Format;
import dev.tenon.quant.formats.Q2_KFormat;
import dev.tenon.quant.formats.Q3_KFormat;
import dev.tenon.quant.formats.Q4_0Format;
import dev.tenon.quant.formats.Q4_1Format;
import dev.tenon.quant.formats.Q4_KFormat;
import dev.tenon.quant.formats.Q5_0Format;
import dev.tenon.quant.formats.Q5_1Format;
import dev.tenon.quant.formats.Q5_KFormat;
import dev.tenon.quant.formats.Q6_KFormat;
import dev.tenon.quant.formats.Q8_0Format;
import dev.tenon.quant.formats.TQ1_0Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/// Weight rows with every code equally likely, activations, and what their products must be.
final class TestRows {
    static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED;

    /// A format with its generator and the places of its F16 factors in a block.
    record Format(BlockCode code, QuantFormat quant, int... factors) {
        @Override
        public String toString() {
            return code.id;
        }
    }

    static final List<Format> FORMATS = List.of(
            of(new Q8_0Format(), 0),
            of(new Q6_KFormat(), 208),
            of(new Q4_KFormat(), 0, 2),
            of(new Q5_KFormat(), 0, 2),
            of(new Q4_0Format(), 0),
            of(new Q4_1Format(), 0, 2),
            of(new Q5_0Format(), 0),
            of(new Q5_1Format(), 0, 2),
            of(new IQ4_NLFormat(), 0),
            of(new IQ4_XSFormat(), 0),
            of(new MXFP4Format()),
            of(new NVFP4Format()),
            of(new IQ3_SFormat(), 0),
            of(new IQ3_XXSFormat(), 0),
            of(new IQ2_SFormat(), 0),
            of(new IQ2_XSFormat(), 0),
            of(new IQ2_XXSFormat(), 0),
            of(new IQ1_SFormat(), 0),
            of(new IQ1_MFormat()),
            of(new Q3_KFormat(), 108),
            of(new TQ1_0Format(), 52),
            of(new Q2_KFormat(), 80, 82),
            // Formats that nobody has: bits that cross bytes, single bits, words of bits the other way round.
            of(
                    foreign(
                            "FIVE_IN_A_ROW",
                            BlockLayout.of(
                                    64,
                                    42,
                                    Numbers.unsigned(BitField.of(5).at(2).bits(64, 5)),
                                    16,
                                    Scale.f16(0))),
                    0),
            of(
                    foreign(
                            "SIX_AND_MINIMUM",
                            BlockLayout.of(
                                            128,
                                            102,
                                            Numbers.unsigned(
                                                    BitField.of(6).at(6).bits(128, 6)),
                                            0,
                                            Scale.f16(2))
                                    .withMinimums(Scale.f16(4))),
                    2,
                    4),
            of(
                    foreign(
                            "SEVEN",
                            BlockLayout.of(
                                    128,
                                    114,
                                    Numbers.unsigned(BitField.of(7).at(2).bits(128, 7)),
                                    64,
                                    Scale.f16(0))),
                    0),
            of(
                    foreign(
                            "ONE",
                            BlockLayout.of(
                                    128,
                                    18,
                                    Numbers.unsigned(BitField.of(1).at(2).bits(128, 1)),
                                    CodeBook.of(-1, 1),
                                    Scale.f16(0))),
                    0),
            of(
                    foreign(
                            "ENTRIES_OF_EIGHT_AND_SIGNS",
                            BlockLayout.of(
                                            128,
                                            26,
                                            Numbers.unsigned(
                                                    BitField.of(4).at(2).bits(16, 4)),
                                            grid(8),
                                            Scale.f16(0))
                                    .withSigns(Numbers.unsigned(
                                            BitField.of(1).at(10).bits(128, 1)))),
                    0),
            of(
                    foreign(
                            "ENTRIES_OF_FOUR",
                            BlockLayout.of(
                                    128,
                                    18,
                                    Numbers.unsigned(BitField.of(4).at(2).bits(32, 4)),
                                    grid(4),
                                    Scale.f16(0))),
                    0),
            of(
                    foreign(
                            "ENTRIES_AND_WHOLE_SHIFTS",
                            BlockLayout.of(
                                            256,
                                            26,
                                            Numbers.unsigned(
                                                    BitField.of(4).at(2).bits(32, 4)),
                                            grid(8),
                                            Scale.f16(0))
                                    .withShifts(Scale.of(Numbers.unsigned(
                                                    BitField.of(2).at(18).bits(32, 2)))
                                            .with(1, -2))),
                    0),
            of(
                    foreign(
                            "TWO",
                            BlockLayout.of(
                                    64, 18, Numbers.unsigned(BitField.of(2).bits(64, 2)), 1, Scale.f16(16))),
                    16),
            of(
                    foreign(
                            "THREE_AND_ONE",
                            BlockLayout.of(
                                    32,
                                    18,
                                    Numbers.unsigned(
                                            BitField.of(3).at(2).bits(2, 4).bytes(16, 1),
                                            BitField.of(1).at(2, 3).bits(2, 4).bytes(16, 1)),
                                    7,
                                    Scale.f16(0))),
                    0),
            of(
                    foreign(
                            "SCALES_OF_TEN_BITS",
                            BlockLayout.of(
                                            256,
                                            128 + 12 + 4,
                                            Numbers.unsigned(BitField.of(4)
                                                    .at(16)
                                                    .bytes(32, 1)
                                                    .bits(2, 4)
                                                    .bytes(4, 32)),
                                            0,
                                            Scale.f16(
                                                            0,
                                                            Numbers.unsigned(BitField.of(7)
                                                                    .at(4)
                                                                    .bits(4, 8)
                                                                    .bits(2, 32)))
                                                    .with(0.5f, 0.25f))
                                    .withMinimums(Scale.f16(
                                            2,
                                            Numbers.unsigned(
                                                    BitField.of(4).at(12).bits(8, 4))))),
                    0,
                    2),
            of(
                    foreign(
                            "SIXTEEN_SCALES",
                            BlockLayout.of(
                                    256,
                                    64 + 16 + 2,
                                    Numbers.unsigned(BitField.of(2)
                                            .at(18)
                                            .bytes(32, 1)
                                            .bits(4, 2)
                                            .bytes(2, 32)),
                                    2,
                                    Scale.f16(
                                                    0,
                                                    Numbers.unsigned(
                                                            BitField.of(6).at(2).bytes(16, 1)))
                                            .with(1, -31))),
                    0),
            of(
                    foreign(
                            "SCALES_IN_A_ROW",
                            BlockLayout.of(
                                    256,
                                    160 + 12 + 2,
                                    Numbers.unsigned(BitField.of(5).at(14).bits(256, 5)),
                                    16,
                                    Scale.f16(
                                            0,
                                            Numbers.unsigned(
                                                    BitField.of(6).at(2).bits(16, 6))))),
                    0),
            of(
                    foreign(
                            "SCALES_AND_MINIMUMS_IN_A_ROW",
                            BlockLayout.of(
                                            256,
                                            128 + 12 + 2,
                                            Numbers.unsigned(
                                                    BitField.of(4).at(14).bits(256, 4)),
                                            0,
                                            Scale.f16(
                                                    0,
                                                    Numbers.unsigned(
                                                            BitField.of(7).at(2).bits(8, 7))))
                                    .withMinimums(Scale.f16(
                                            0,
                                            Numbers.unsigned(
                                                    BitField.of(5).at(9).bits(8, 5))))),
                    0));

    /// Sixteen entries of numbers from -35 to 36.
    private static CodeBook grid(int length) {
        byte[] numbers = new byte[16 * length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (byte) (i * 29 % 72 - 35);
        }
        return CodeBook.grid(length, numbers);
    }

    private static Format of(QuantFormat format, int... factors) {
        return new Format(FormatCode.of(format), format, factors);
    }

    /// A format of which only the layout is known.
    private static QuantFormat foreign(String id, BlockLayout layout) {
        return new QuantFormat() {
            @Override
            public String id() {
                return id;
            }

            @Override
            public int ggmlType() {
                return 60_000;
            }

            @Override
            public Optional<BlockLayout> layout() {
                return Optional.of(layout);
            }

            @Override
            public Optional<Quantizer> quantizer() {
                return Optional.empty();
            }
        };
    }

    private TestRows() {}

    /// {@return rows of random blocks with small random factors, `shift` bytes after an aligned address}
    static MemorySegment weights(Arena arena, Format format, int rows, int n, long seed, int shift) {
        long bytes = rows * format.quant.bytesFor(n);
        MemorySegment w = arena.allocate(bytes + shift, 64).asSlice(shift, bytes);
        SplittableRandom random = new SplittableRandom(seed);
        for (long i = 0; i < bytes; i++) {
            w.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        for (long b = 0; b < bytes; b += format.quant.blockBytes()) {
            if (format.code.id.equals("MXFP4")) {
                w.set(ValueLayout.JAVA_BYTE, b, (byte) random.nextInt(115, 125));
            }
            for (int f : format.factors) {
                float d = (float) ((random.nextDouble() + 0.1) * (random.nextBoolean() ? 0.01 : -0.01));
                w.set(F16, b + f, Float.floatToFloat16(d));
            }
            putFactor(format, w, b, Float.floatToFloat16((float) random.nextDouble(0.001, 0.01)));
        }
        return w;
    }

    /// {@return the factor of all scales, if it is in several pieces of a block}
    private static Optional<Numbers> factor(Format format) {
        return format.quant
                .layout()
                .orElseThrow()
                .scales()
                .flatMap(Scale::common)
                .filter(numbers -> numbers.pieces(0).size() > 1);
    }

    private static void putFactor(Format format, MemorySegment w, long at, int half) {
        factor(format).ifPresent(numbers -> {
            MemorySegment block = w.asSlice(at, format.quant.blockBytes());
            byte[] bytes = block.toArray(ValueLayout.JAVA_BYTE);
            numbers.put(bytes, 0, 0, half);
            block.copyFrom(MemorySegment.ofArray(bytes));
        });
    }

    /// {@return normally distributed activations of different sizes}
    static float[] activations(int tokens, int n, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] x = new float[tokens * n];
        for (int t = 0; t < tokens; t++) {
            double size = Math.exp(random.nextDouble(-3, 3));
            for (int i = 0; i < n; i++) {
                x[t * n + i] = (float) (size * random.nextGaussian() + 0.2 * size);
            }
        }
        return x;
    }

    /// {@return packed rows, one after the other}
    static MemorySegment pack(Arena arena, LinearKernel kernel, float[] x, int tokens, int n) {
        MemorySegment packed = arena.allocate(kernel.packedBytes(n, tokens), 64);
        HostFloats rows = new HostFloats(x);
        for (int t = 0; t < tokens; t++) {
            kernel.pack(rows, t * n, n, packed, t);
        }
        return packed;
    }

    /// The quantised values of a packed row as the kernels see them, `q * dx`.
    static double[] unpacked(BlockCode format, MemorySegment packed, int token, int n) {
        long row = token * PackedActivations.packedBytes(format, n);
        double[] x = new double[n];
        for (int i = 0; i < n; i++) {
            float dx = packed.get(ValueLayout.JAVA_FLOAT, row + dxOffset(format, n, i / format.group));
            x[i] = (double) quantised(format, packed, row, i) * dx;
        }
        return x;
    }

    /// {@return a quantised value of a packed row}
    static int quantised(BlockCode format, MemorySegment packed, long row, int i) {
        return format.words
                ? packed.get(ValueLayout.JAVA_SHORT, row + (long) Short.BYTES * i)
                : packed.get(ValueLayout.JAVA_BYTE, row + i);
    }

    /// {@return where dx of a group is in a packed row}
    static long dxOffset(BlockCode format, int n, int group) {
        int perSpan = BlockCode.SPAN / format.group;
        return format.tiled
                ? PackedActivations.tilesOffset(format, n)
                        + (long) (group / perSpan / PanelShape.TILE * perSpan + group % perSpan) * Float.BYTES
                : scaleOffset(format, n, group);
    }

    /// {@return where a group's first float is in a packed row: dx, or c in a tiled format}
    static long scaleOffset(BlockCode format, int n, int group) {
        int perSpan = BlockCode.SPAN / format.group;
        return PackedActivations.scalesOffset(format, n)
                + (long) (group / perSpan) * PackedActivations.scaleBytes(format)
                + (long) (group % perSpan) * Float.BYTES;
    }

    /// {@return where the piece of a group is in a packed row}
    static long pieceOffset(BlockCode format, int n, int group) {
        int perSpan = BlockCode.SPAN / format.group;
        return PackedActivations.piecesOffset(format, n)
                + (group % perSpan * PackedActivations.spans(n) + group / perSpan)
                        * PackedActivations.pieceBytes(format);
    }

    /// {@return a row of weights as the format defines them}
    static float[] decoded(Format format, MemorySegment weights, int row, int n) {
        float[] w = new float[n];
        format.quant.dequantize(weights, row * format.quant.bytesFor(n), w, 0, n);
        return w;
    }

    /// {@return for each activation, half a step of its unit of 32, or of its place in a tile: the
    /// most that rounding changes it by}
    static double[] halfSteps(BlockCode format, float[] x, int from, int n) {
        double[] half = new double[n];
        if (format.tiled) {
            for (int g = 0; g < n / format.group; g++) {
                float m = most(format, x, from, n, g);
                Arrays.fill(half, g * format.group, (g + 1) * format.group, m / Byte.MAX_VALUE * 0.5001);
            }
            return half;
        }
        for (int u = 0; u < n; u += 32) {
            double m = 0;
            for (int i = u; i < u + 32; i++) {
                m = Math.max(m, Math.abs(x[from + i]));
            }
            Arrays.fill(half, u, u + 32, m / (format.words ? Short.MAX_VALUE : Byte.MAX_VALUE) * 0.5001);
        }
        return half;
    }

    /// {@return the greatest magnitude of the activations that share a scale with a group's, at least the least one}
    static float most(BlockCode format, float[] x, int from, int n, int group) {
        int perSpan = BlockCode.SPAN / format.group;
        int perTile = PanelShape.TILE * perSpan;
        int first = format.tiled ? group / perTile * perTile + group % perSpan : group;
        int end = format.tiled ? Math.min((group / perTile + 1) * perTile, n / format.group) : group + 1;
        float m = PackCode.TINY;
        for (int g = first; g < end; g += perSpan) {
            for (int i = 0; i < format.group; i++) {
                m = Math.max(m, Math.abs(x[from + g * format.group + i]));
            }
        }
        return m;
    }

    /// Sets all bytes of all blocks but the F16 factors.
    static void fillCodes(Format format, MemorySegment w, byte code) {
        for (long b = 0; b < w.byteSize(); b += format.quant.blockBytes()) {
            MemorySegment block = w.asSlice(b, format.quant.blockBytes());
            int kept = factor(format)
                    .map(numbers -> numbers.get(block.toArray(ValueLayout.JAVA_BYTE), 0, 0))
                    .orElse(0);
            for (int i = 0; i < format.quant.blockBytes(); i++) {
                int at = i;
                if (Arrays.stream(format.factors).noneMatch(f -> at == f || at == f + 1)) {
                    w.set(ValueLayout.JAVA_BYTE, b + i, code);
                }
            }
            putFactor(format, w, b, kept);
        }
    }
}
