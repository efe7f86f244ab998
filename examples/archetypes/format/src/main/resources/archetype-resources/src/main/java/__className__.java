package ${package};

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

/// ${id}: value[i] = d * (level[i] - 32), 64 values a block: d as float16, then 64 levels of six bits in a row.
@Component(service = QuantFormat.class, property = "quant.format=${id}")
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements QuantFormat, Quantizer {
    private static final int ZERO = 32;
    private static final BlockLayout LAYOUT = BlockLayout.of(
            64, 50, Numbers.unsigned(BitField.of(6).at(2).bits(64, 6)), ZERO, Scale.f16(0));

    @Override
    public String id() {
        return "${id}";
    }

    @Override
    public int ggmlType() {
        return ${number};
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
        byte[] block = new byte[LAYOUT.bytes()];
        for (int first = 0; first < n; first += LAYOUT.size()) {
            float largest = 0;
            for (int i = 0; i < LAYOUT.size(); i++) {
                largest = Math.max(largest, Math.abs(source[sourceOffset + first + i]));
            }
            short half = Float.floatToFloat16(largest / (ZERO - 1));
            float d = Float.float16ToFloat(half);
            block[0] = (byte) half;
            block[1] = (byte) (half >> 8);
            for (int i = 0; i < LAYOUT.size(); i++) {
                int q = d == 0 ? 0 : Math.clamp(Math.round(source[sourceOffset + first + i] / d), -ZERO, ZERO - 1);
                LAYOUT.levels().put(block, 0, i, q + ZERO);
            }
            MemorySegment.copy(block, 0, target, ValueLayout.JAVA_BYTE, offsetBytes + bytesFor(first), block.length);
        }
    }
}
