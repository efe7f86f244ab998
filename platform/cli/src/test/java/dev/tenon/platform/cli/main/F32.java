package dev.tenon.platform.cli.main;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;

/// The simplest format, for tests that write and read models.
public final class F32 implements QuantFormat {
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public String id() {
        return "F32";
    }

    @Override
    public int ggmlType() {
        return 0;
    }

    @Override
    public int blockSize() {
        return 1;
    }

    @Override
    public int blockBytes() {
        return 4;
    }

    @Override
    public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        MemorySegment.copy(source, FLOAT, offsetBytes, target, targetOffset, n);
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.of((source, sourceOffset, target, offsetBytes, n) ->
                MemorySegment.copy(source, sourceOffset, target, FLOAT, offsetBytes, n));
    }
}
