package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.memory.Activations;
import java.lang.foreign.MemorySegment;

/// Decodes the embedding row of each token.
///
/// @param format format of the table
/// @param data the table; borrowed
/// @param rowBytes bytes of a row
/// @param out `[T, width]`
public record CpuEmbedding(QuantFormat format, MemorySegment data, long rowBytes, Activations out)
        implements CpuKernel {
    @Override
    public int phases() {
        return 1;
    }

    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int tokens = c.input().tokenCount();
        for (int t = c.claim(1); t < tokens; t = c.claim(1)) {
            format.dequantize(data, c.input().token(t) * rowBytes, out.data, t * out.width, out.width);
        }
    }
}
