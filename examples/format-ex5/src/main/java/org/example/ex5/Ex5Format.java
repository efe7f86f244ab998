package org.example.ex5;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// EX5: 64 five-bit levels under one scale, 5.25 bits a weight. Made up for this example.
///
/// ```
/// byte 0       2                                       42
///      | d:f16 | qs: 8 groups of 5 bytes                |     value[i] = d * (level[i] - 16)
///
/// group g = 40 bits, little-endian:  level[8 g + j] = group >> 5 j & 31     j in 0..7
/// ```
///
/// Encoding: the value m of largest magnitude gets level 0 (d = m / -16), the others are rounded,
/// at most 31.
@Component(service = QuantFormat.class, property = "quant.format=EX5")
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Ex5Format implements QuantFormat, Quantizer {
    /// The name by which files, kernels and people know the format.
    static final String ID = "EX5";
    /// Elements in a block.
    static final int SIZE = 64;
    /// Bytes of a block.
    static final int BYTES = 42;
    /// Where the levels begin in a block.
    static final int LEVELS = 2;

    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /// Creates the format; it has no state.
    public Ex5Format() {}

    @Override
    public String id() {
        return ID;
    }

    /// {@return a number that ggml does not use; files name the format by it, so it never changes}
    @Override
    public int ggmlType() {
        return 50_005;
    }

    @Override
    public int blockSize() {
        return SIZE;
    }

    @Override
    public int blockBytes() {
        return BYTES;
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.of(this);
    }

    @Override
    public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        check(source, offsetBytes, target, targetOffset, n);
        for (int b = 0; b < n / SIZE; b++) {
            long block = offsetBytes + (long) b * BYTES;
            int out = targetOffset + b * SIZE;
            float d = scale(source, block);
            for (int i = 0; i < SIZE; i += 8) {
                long group = group(source, block, i);
                for (int j = 0; j < 8; j++) {
                    target[out + i + j] = d * ((int) (group >> 5 * j & 31) - 16);
                }
            }
        }
    }

    @Override
    public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
        check(target, offsetBytes, source, sourceOffset, n);
        for (int b = 0; b < n / SIZE; b++) {
            long block = offsetBytes + (long) b * BYTES;
            int in = sourceOffset + b * SIZE;
            float d = largest(source, in) / -16;
            float inverse = d != 0 ? 1 / d : 0;
            target.set(F16, block, Float.floatToFloat16(d));
            for (int i = 0; i < SIZE; i += 8) {
                long group = 0;
                for (int j = 0; j < 8; j++) {
                    long level = Math.clamp(Math.round(source[in + i + j] * inverse) + 16L, 0, 31);
                    group |= level << 5 * j;
                }
                long at = block + LEVELS + i / 8 * 5;
                target.set(INT, at, (int) group);
                target.set(ValueLayout.JAVA_BYTE, at + 4, (byte) (group >> 32));
            }
        }
    }

    /// {@return the scale of a block}
    ///
    /// @param blocks holds the block
    /// @param block where it starts
    @ForceInline
    static float scale(MemorySegment blocks, long block) {
        return Float.float16ToFloat(blocks.get(F16, block));
    }

    /// {@return eight levels, five bits each, the first one lowest}
    ///
    /// @param blocks holds the block
    /// @param block where it starts
    /// @param i index of the first level, a multiple of 8
    private static long group(MemorySegment blocks, long block, int i) {
        long at = block + LEVELS + i / 8 * 5;
        return blocks.get(INT, at) & 0xffffffffL | (blocks.get(ValueLayout.JAVA_BYTE, at + 4) & 0xffL) << 32;
    }

    private static float largest(float[] values, int at) {
        float largest = 0;
        for (int i = at; i < at + SIZE; i++) {
            if (!Float.isFinite(values[i])) {
                throw new IllegalArgumentException(
                        "EX5: the value at index " + i + " is " + values[i] + "; only finite values can be encoded");
            }
            largest = Math.abs(values[i]) > Math.abs(largest) ? values[i] : largest;
        }
        return largest;
    }

    private void check(MemorySegment blocks, long offsetBytes, float[] values, int at, int n) {
        Objects.checkFromIndexSize(offsetBytes, bytesFor(n), blocks.byteSize());
        Objects.checkFromIndexSize(at, n, values.length);
    }
}
