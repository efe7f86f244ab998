package dev.tenon.platform.core.engine;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// F16 by type only; nothing is decoded here.
public final class FakeFormat implements QuantFormat {
    @Override
    public String id() {
        return "F16";
    }

    @Override
    public int ggmlType() {
        return 1;
    }

    @Override
    public int blockSize() {
        return 1;
    }

    @Override
    public int blockBytes() {
        return 2;
    }

    @Override
    public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        throw new IllegalStateException("the fake backend does not decode");
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.empty();
    }
}
