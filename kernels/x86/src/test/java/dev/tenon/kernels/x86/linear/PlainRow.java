package dev.tenon.kernels.x86.linear;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A row in plain Java, and its products in the order of additions that all kernels promise: what they must give to
/// the bit, whatever the feature set and the number of rows and tokens.
///
/// Levels, scales and minimums are read one by one as the layout says.
final class PlainRow {
    private final BlockCode format;
    private final int n;
    private final int[] levels;
    private final float[] scales;
    private final float[] minimums;

    /// Reads a row.
    ///
    /// @param weights holds it
    /// @param row its byte offset
    PlainRow(TestRows.Format format, MemorySegment weights, long row, int n) {
        this.format = format.code();
        this.n = n;
        BlockLayout layout = format.quant().layout().orElseThrow();
        byte[] bytes = weights.asSlice(row, format.quant().bytesFor(n)).toArray(ValueLayout.JAVA_BYTE);
        int power = power(layout);
        levels = new int[n];
        for (int i = 0; i < n; i++) {
            int block = i / layout.size() * layout.bytes();
            levels[i] = level(layout, bytes, block, i % layout.size(), power);
        }
        scales = factors(layout, layout.scales().orElseThrow(), bytes);
        for (int g = 0; g < scales.length; g++) {
            scales[g] = Math.scalb(scales[g], -power);
        }
        minimums = layout.minimums()
                .map(minimum -> factors(layout, minimum, bytes))
                .orElse(null);
    }

    /// The least power of two that makes shifts whole, here those of eighths.
    private static int power(BlockLayout layout) {
        return layout.shifts().filter(shifts -> shifts.step() != 1).isPresent() ? 3 : 0;
    }

    private int level(BlockLayout layout, byte[] bytes, int block, int i, int power) {
        CodeBook book = layout.codeBook().orElse(null);
        if (book == null) {
            int bits = layout.levels().get(bytes, block, i);
            return layout.levels().type() == Numbers.Type.TRITS
                    ? digit(bits, layout.levels().pieces(i).getFirst().to())
                    : bits;
        }
        int number = book.number(layout.levels().get(bytes, block, i / book.length()), i % book.length()) << power;
        if (layout.signs().isPresent()) {
            Numbers signs = layout.signs().get();
            int key = signs.width() == 1 ? 0 : signs.get(bytes, block, i / 8);
            boolean negative = signs.width() == 1
                    ? signs.get(bytes, block, i) == 1
                    : (i % 8 == 7 ? Integer.bitCount(key) : key >> i % 8) % 2 == 1;
            number = negative ? -number : number;
        }
        if (layout.shifts().isPresent()) {
            Scale shifts = layout.shifts().get();
            int key = shifts.numbers().get(bytes, block, i * shifts.count() / layout.size());
            number += (int) Math.scalb(shifts.step() * key + shifts.offset(), power);
        }
        return number + (int) format.zero;
    }

    private static int digit(int bits, int number) {
        int shifted = bits;
        for (int i = 0; i < number; i++) {
            shifted = 3 * shifted & 0xFF;
        }
        return 3 * shifted >> Byte.SIZE;
    }

    private float[] factors(BlockLayout layout, Scale scale, byte[] bytes) {
        float[] factors = new float[n / format.group];
        for (int g = 0; g < factors.length; g++) {
            int block = g * format.group / layout.size() * layout.bytes();
            int number = g * format.group % layout.size() * scale.count() / layout.size();
            float value = value(scale.numbers(), bytes, block, number);
            value = scale.step() == 1 ? value : value * scale.step();
            value = scale.offset() == 0 ? value : value + scale.offset();
            factors[g] = scale.common().isPresent() ? value(scale.common().get(), bytes, block, 0) * value : value;
        }
        return factors;
    }

    private static float value(Numbers numbers, byte[] bytes, int block, int number) {
        int bits = numbers.get(bytes, block, number);
        return numbers.type().value(bits);
    }

    /// {@return the row times a token}
    ///
    /// @param token index of the packed row
    float product(MemorySegment packed, int token) {
        long packedRow = token * PackedActivations.packedBytes(format, n);
        int places = BlockCode.SPAN / format.group;
        float[] sums = new float[places];
        if (format.tiled) {
            for (int p = 0; p < places; p++) {
                sums[p] = place(packed, packedRow, p);
            }
            return tree(sums);
        }
        for (int g = 0; g < n / format.group; g++) {
            int dot = 0;
            int sum = 0;
            for (int i = g * format.group; i < (g + 1) * format.group; i++) {
                int q = TestRows.quantised(format, packed, packedRow, i);
                dot += q * levels[i];
                sum += q;
            }
            long at = packedRow + TestRows.scaleOffset(format, n, g);
            float dx = packed.get(ValueLayout.JAVA_FLOAT, at);
            float z = (format.mins ? dot : dot - (int) format.zero * sum) * dx;
            sums[g % places] = Math.fma(z, scales[g], sums[g % places]);
            if (format.mins) {
                sums[g % places] = Math.fma(minimums[g], -dx * sum, sums[g % places]);
            }
        }
        return tree(sums);
    }

    /// {@return the sum of the groups at one place of their spans, tile by tile}
    private float place(MemorySegment packed, long packedRow, int place) {
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
                    dot += q * (levels[i] - (int) format.zero);
                }
                a = Math.fma(PackedActivations.BIAS + dot, scales[g], a);
                b += scales[g];
            }
            float dx = packed.get(ValueLayout.JAVA_FLOAT, packedRow + TestRows.dxOffset(format, n, first));
            sum = Math.fma(Math.fma(-PackedActivations.BIAS, b, a), dx, sum);
        }
        return sum;
    }

    /// {@return what rounding may change because tiled formats add up floats with `PackCode#BIAS`; 0 for
    /// others, where it cancels without a trace}
    double biasRounding(MemorySegment packed, int token) {
        int places = BlockCode.SPAN / format.group;
        double greatest = PackedActivations.BIAS + format.group * format.zero * Byte.MAX_VALUE;
        double rounding = 0;
        double sum = 0;
        for (int i = 0; format.tiled && i < n / format.group; i++) {
            int tile = i / (places * PanelShape.TILE);
            int spans = Math.min(PanelShape.TILE, n / BlockCode.SPAN - tile * PanelShape.TILE);
            int in = i - tile * places * PanelShape.TILE;
            int g = tile * places * PanelShape.TILE + in % spans * places + in / spans;
            long dx = token * PackedActivations.packedBytes(format, n) + TestRows.dxOffset(format, n, g);
            // half a unit in the last place of both sums so far
            sum = (in % spans == 0 ? 0 : sum) + Math.abs(scales[g]);
            rounding += 2 * 0x1p-24 * greatest * sum * packed.get(ValueLayout.JAVA_FLOAT, dx);
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
}
