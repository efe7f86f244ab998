package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;

/// I32: whole numbers in two's complement, 32 bits each, such as the experts of each token. As float32, those up to
/// 2^24 are what they were.
///
/// ```
/// byte 0       4
///      | i32   |          value = i32
/// ```
///
/// Without an encoder, for weights are no whole numbers.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class I32Format implements QuantFormat {
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public String id() {
        return "I32";
    }

    @Override
    public int ggmlType() {
        return 26;
    }

    @Override
    public int blockSize() {
        return 1;
    }

    @Override
    public int blockBytes() {
        return Integer.BYTES;
    }

    @Override
    public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        long bytes = bytesFor(n);
        boolean fits = targetOffset >= 0
                && n <= target.length - targetOffset
                && offsetBytes >= 0
                && bytes <= source.byteSize() - offsetBytes;
        if (!fits) {
            throw new IndexOutOfBoundsException(
                    "I32: %d values from byte %d of %d do not fit the source, or from index %d the target of %d floats"
                            .formatted(n, offsetBytes, source.byteSize(), targetOffset, target.length));
        }
        for (int i = 0; i < n; i++) {
            target[targetOffset + i] = source.get(I32, offsetBytes + (long) Integer.BYTES * i);
        }
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.empty();
    }

    @Override
    public String toString() {
        return id();
    }
}
