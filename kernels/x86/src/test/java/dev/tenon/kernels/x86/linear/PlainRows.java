package dev.tenon.kernels.x86.linear;

import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Products of rows in plain Java, in the order of additions that all kernels promise: what they must give to
/// the bit, whatever the feature set and the number of rows and tokens.
///
/// Levels, scales and minimums are read as the formats define them, one by one.
final class PlainRows {
    private static final int[] UNEVEN = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

    private PlainRows() {}

    /// {@return whether the format has a plain form here: one of words, ones without minimums, ones with,
    /// one tiled}
    static boolean has(BlockCode format) {
        return switch (format.id) {
            case "Q8_0", "Q6_K", "Q4_K", "Q4_0", "MXFP4", "Q3_K" -> true;
            case "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "IQ4_XS" -> true;
            default -> false;
        };
    }

    /// {@return a row times a token}
    ///
    /// @param row byte offset of the row
    /// @param token index of the packed row
    static float product(BlockCode format, MemorySegment weights, long row, MemorySegment packed, int token, int n) {
        long packedRow = token * PackedActivations.packedBytes(format, n);
        int places = BlockCode.SPAN / format.group;
        float[] sums = new float[places];
        if (format.tiled) {
            for (int p = 0; p < places; p++) {
                sums[p] = place(format, weights, row, packed, packedRow, n, p);
            }
            return tree(sums);
        }
        for (int g = 0; g < n / format.group; g++) {
            int dot = 0;
            int sum = 0;
            for (int i = g * format.group; i < (g + 1) * format.group; i++) {
                int q = TestRows.quantised(format, packed, packedRow, i);
                dot += q * level(format, weights, row, i);
                sum += q;
            }
            long at = packedRow + TestRows.scaleOffset(format, n, g);
            float dx = packed.get(ValueLayout.JAVA_FLOAT, at);
            float[] scaleAndMin = scale(format, weights, row, g);
            float z = (format.mins ? dot : dot - (int) format.zero * sum) * dx;
            sums[g % places] = Math.fma(z, scaleAndMin[0], sums[g % places]);
            if (format.mins) {
                sums[g % places] = Math.fma(scaleAndMin[1], -dx * sum, sums[g % places]);
            }
        }
        return tree(sums);
    }

    /// {@return the sum of the groups at one place of their spans, tile by tile}
    private static float place(
            BlockCode format, MemorySegment weights, long row, MemorySegment packed, long packedRow, int n, int place) {
        int places = BlockCode.SPAN / format.group;
        float sum = 0;
        for (int tile = 0; tile < PackedActivations.tiles(n); tile++) {
            float a = 0;
            float b = 0;
            int first = place + tile * PanelShape.TILE * places;
            int end = Math.min((tile + 1) * PanelShape.TILE * places, n / format.group);
            for (int g = first; g < end; g += places) {
                int dot = 0;
                for (int i = g * format.group; i < (g + 1) * format.group; i++) {
                    int q = TestRows.quantised(format, packed, packedRow, i);
                    dot += q * (level(format, weights, row, i) - (int) format.zero);
                }
                float scale = scale(format, weights, row, g)[0];
                a = Math.fma(PackedActivations.BIAS + dot, scale, a);
                b += scale;
            }
            float dx = packed.get(ValueLayout.JAVA_FLOAT, packedRow + TestRows.dxOffset(format, n, first));
            sum = Math.fma(Math.fma(-PackedActivations.BIAS, b, a), dx, sum);
        }
        return sum;
    }

    /// {@return what rounding may change because tiled formats add up floats with `PackCode#BIAS`; 0 for
    /// others, where it cancels without a trace}
    static double biasRounding(
            BlockCode format, MemorySegment weights, long row, MemorySegment packed, int token, int n) {
        int places = BlockCode.SPAN / format.group;
        double greatest = PackedActivations.BIAS + format.group * format.zero * Byte.MAX_VALUE;
        double rounding = 0;
        double scales = 0;
        for (int i = 0; format.tiled && i < n / format.group; i++) {
            int tile = i / (places * PanelShape.TILE);
            int spans = Math.min(PanelShape.TILE, n / BlockCode.SPAN - tile * PanelShape.TILE);
            int in = i - tile * places * PanelShape.TILE;
            int g = tile * places * PanelShape.TILE + in % spans * places + in / spans;
            long dx = token * PackedActivations.packedBytes(format, n) + TestRows.dxOffset(format, n, g);
            // half a unit in the last place of both sums so far
            scales = (in % spans == 0 ? 0 : scales) + Math.abs(scale(format, weights, row, g)[0]);
            rounding += 2 * 0x1p-24 * greatest * scales * packed.get(ValueLayout.JAVA_FLOAT, dx);
        }
        return rounding;
    }

    private static float tree(float[] sums) {
        for (int half = sums.length / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                sums[i] += sums[i + half];
            }
        }
        return sums[0];
    }

    private static int level(BlockCode format, MemorySegment w, long row, int i) {
        int in = i % 256;
        long span = row + i / 256 * (long) format.spanBytes;
        switch (format.id) {
            case "Q8_0" -> {
                return w.get(ValueLayout.JAVA_BYTE, row + i / 32 * 34L + 2 + i % 32);
            }
            case "Q4_0" -> {
                return nibble(w, row + i / 32 * 18L + 2, i);
            }
            case "Q4_1" -> {
                return nibble(w, row + i / 32 * 20L + 4, i);
            }
            case "Q5_0", "Q5_1" -> {
                long block = row + i / 32 * (long) format.unitBytes;
                long high = format.mins ? block + 4 : block + 2;
                return nibble(w, high + 4, i) | (unsigned(w, high + i % 32 / 8) >> i % 8 & 1) << 4;
            }
            case "IQ4_NL" -> {
                return UNEVEN[nibble(w, row + i / 32 * 18L + 2, i)] + 127;
            }
            case "IQ4_XS" -> {
                return UNEVEN[nibble(w, span + 8 + in / 32 * 16, i)] + 127;
            }
            case "MXFP4" -> {
                int code = nibble(w, row + i / 32 * 17L + 1, i);
                int value = new int[] {0, 1, 2, 3, 4, 6, 8, 12}[code & 7];
                return 12 + (code < 8 ? value : -value);
            }
            case "Q6_K" -> {
                int part = in / 128;
                int ql = unsigned(w, span + 64 * part + in % 64);
                int qh = unsigned(w, span + 128 + 32 * part + in % 32);
                int quarter = in % 128 / 32;
                return ql >> 4 * (quarter / 2) & 15 | (qh >> 2 * quarter & 3) << 4;
            }
            case "Q3_K" -> {
                int unit = in / 32;
                int low = unsigned(w, span + 32 + unit / 4 * 32 + in % 32) >> 2 * (unit % 4) & 3;
                return low | (unsigned(w, span + in % 32) >> unit & 1) << 2;
            }
            case "Q4_K" -> {
                return unsigned(w, span + 16 + in / 64 * 32 + in % 32) >> in % 64 / 32 * 4 & 15;
            }
            default -> throw new IllegalArgumentException(format.id);
        }
    }

    /// {@return the scale of a group, and its minimum where groups have one}
    private static float[] scale(BlockCode format, MemorySegment w, long row, int g) {
        int in = g % (256 / format.group);
        long span = row + g / (256 / format.group) * (long) format.spanBytes;
        switch (format.id) {
            case "Q8_0" -> {
                return new float[] {f16(w, row + g * 34L)};
            }
            case "Q4_0", "Q5_0", "IQ4_NL" -> {
                return new float[] {f16(w, row + (long) g * format.unitBytes)};
            }
            case "Q4_1", "Q5_1" -> {
                long block = row + (long) g * format.unitBytes;
                return new float[] {f16(w, block), -f16(w, block + 2)};
            }
            case "IQ4_XS" -> {
                int low = unsigned(w, span + 4 + in / 2) >> in % 2 * 4 & 15;
                int high = unsigned(w, span + 2 + in / 4) >> in % 4 * 2 & 3;
                return new float[] {((low | high << 4) - 32) * f16(w, span)};
            }
            case "MXFP4" -> {
                return new float[] {(float) Math.scalb(1.0, unsigned(w, row + g * 17L) - 128)};
            }
            case "Q6_K" -> {
                return new float[] {w.get(ValueLayout.JAVA_BYTE, span + 192 + in) * f16(w, span + 208)};
            }
            case "Q3_K" -> {
                int low = unsigned(w, span + 96 + in % 8) >> in / 8 * 4 & 15;
                int high = unsigned(w, span + 104 + in % 4) >> 2 * (in / 4) & 3;
                return new float[] {((low | high << 4) - 32) * f16(w, span + 108)};
            }
            case "Q4_K" -> {
                long s = span + 4;
                int scale = unsigned(w, s + in % 4) & 63;
                int min = unsigned(w, s + 4 + in % 4) & 63;
                if (in >= 4) {
                    scale = unsigned(w, s + 4 + in) & 15 | unsigned(w, s + in - 4) >> 6 << 4;
                    min = unsigned(w, s + 4 + in) >> 4 | unsigned(w, s + in) >> 6 << 4;
                }
                return new float[] {scale * f16(w, span), min * f16(w, span + 2)};
            }
            default -> throw new IllegalArgumentException(format.id);
        }
    }

    /// {@return the low bits of weight i of 32, from 16 bytes}
    private static int nibble(MemorySegment w, long qs, int i) {
        return unsigned(w, qs + i % 16) >> i % 32 / 16 * 4 & 15;
    }

    private static int unsigned(MemorySegment w, long at) {
        return w.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
    }

    private static float f16(MemorySegment w, long at) {
        return Float.float16ToFloat(w.get(TestRows.F16, at));
    }
}
