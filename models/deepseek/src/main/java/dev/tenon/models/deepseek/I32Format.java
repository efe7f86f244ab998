package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// I32: whole numbers in two's complement, 32 bits each, such as the experts of each token. As float32, those up to
/// 2^24 are what they were.
///
/// ```
/// byte 0       4
///      | i32   |          value = i32
/// ```
///
/// Without an encoder, for weights are no whole numbers; a format of this bundle, for no other reads such tensors.
@Component(service = QuantFormat.class, property = "quant.format=I32")
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
        MemorySegment numbers = source.asSlice(offsetBytes, bytesFor(n));
        Objects.checkFromIndexSize(targetOffset, n, target.length);
        for (int i = 0; i < n; i++) {
            target[targetOffset + i] = numbers.getAtIndex(I32, i);
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
