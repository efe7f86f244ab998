package org.example.ex5;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// EX5: 64 five-bit levels under one scale, 5.25 bits a weight. Made up for this example.
///
/// ```
/// byte 0       2                                       42
///      | d:f16 | 64 levels of five bits, one after the other, the lowest bits first |
///
/// value[i] = d * (level[i] - 16)
/// ```
///
/// Encoding: the value m of largest magnitude gets level 0 (d = m / -16), the others are rounded,
/// at most 31.
@Component(service = QuantFormat.class, property = "quant.format=EX5")
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Ex5Format implements QuantFormat, Quantizer {
    private static final int SIZE = 64;
    private static final int BYTES = 42;
    private static final int ZERO = 16;
    private static final BlockLayout LAYOUT = BlockLayout.of(
            SIZE, BYTES, Numbers.unsigned(BitField.of(5).at(2).bits(SIZE, 5)), ZERO, Scale.f16(0));

    /// Creates the format; it has no state.
    public Ex5Format() {}

    @Override
    public String id() {
        return "EX5";
    }

    /// {@return a number that ggml does not use; files name the format by it, so it never changes}
    @Override
    public int ggmlType() {
        return 50_005;
    }

    @Override
    public Optional<BlockLayout> layout() {
        return Optional.of(LAYOUT);
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.of(this);
    }

    @Override
    public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
        Objects.checkFromIndexSize(offsetBytes, bytesFor(n), target.byteSize());
        Objects.checkFromIndexSize(sourceOffset, n, source.length);
        byte[] block = new byte[BYTES];
        for (int first = 0; first < n; first += SIZE) {
            int from = sourceOffset + first;
            float d = largest(source, from) / -ZERO;
            float inverse = d != 0 ? 1 / d : 0;
            short half = Float.floatToFloat16(d);
            block[0] = (byte) half;
            block[1] = (byte) (half >> Byte.SIZE);
            for (int i = 0; i < SIZE; i++) {
                int level = (int) Math.clamp(Math.round(source[from + i] * inverse) + (long) ZERO, 0, 31);
                LAYOUT.levels().put(block, 0, i, level);
            }
            MemorySegment.copy(block, 0, target, ValueLayout.JAVA_BYTE, offsetBytes + bytesFor(first), BYTES);
        }
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
}
