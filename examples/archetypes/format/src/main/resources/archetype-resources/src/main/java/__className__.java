package ${package};

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

/// ${id}: value[i] = d * q[i], 64 values a block: d as float32, then q as 64 signed bytes.
@Component(service = QuantFormat.class, property = "quant.format=${id}")
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements QuantFormat, Quantizer {
    /// Elements in a block.
    static final int SIZE = 64;
    /// Bytes of a block.
    static final int BYTES = 68;
    /// Where the levels begin in a block.
    static final int LEVELS = 4;

    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public String id() {
        return "${id}";
    }

    @Override
    public int ggmlType() {
        return ${number};
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
    public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        check(source, offsetBytes, target, targetOffset, n);
        for (int i = 0; i < n; i++) {
            long block = offsetBytes + (long) (i / SIZE) * BYTES;
            target[targetOffset + i] =
                    scale(source, block) * source.get(ValueLayout.JAVA_BYTE, block + LEVELS + i % SIZE);
        }
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.of(this);
    }

    @Override
    public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
        check(target, offsetBytes, source, sourceOffset, n);
        for (int first = 0; first < n; first += SIZE) {
            long block = offsetBytes + (long) (first / SIZE) * BYTES;
            float largest = 0;
            for (int i = 0; i < SIZE; i++) {
                largest = Math.max(largest, Math.abs(source[sourceOffset + first + i]));
            }
            float d = largest / 127;
            target.set(FLOAT, block, d);
            for (int i = 0; i < SIZE; i++) {
                int q = d == 0 ? 0 : Math.clamp(Math.round(source[sourceOffset + first + i] / d), -127, 127);
                target.set(ValueLayout.JAVA_BYTE, block + LEVELS + i, (byte) q);
            }
        }
    }

    @ForceInline
    static float scale(MemorySegment blocks, long block) {
        return blocks.get(FLOAT, block);
    }

    private void check(MemorySegment blocks, long offsetBytes, float[] values, int at, int n) {
        Objects.checkFromIndexSize(offsetBytes, bytesFor(n), blocks.byteSize());
        Objects.checkFromIndexSize(at, n, values.length);
    }
}
