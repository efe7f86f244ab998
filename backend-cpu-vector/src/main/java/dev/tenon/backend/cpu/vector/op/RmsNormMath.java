package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Root-mean-square norm of groups.
///
/// @param weight `[group]`, float32; not copied
/// @param eps added to the mean square
/// @param elements computes it
public record RmsNormMath(HostFloats weight, float eps, ElementDispatch elements) implements RowNorm {
    @Override
    public int group() {
        return weight.length();
    }

    @Override
    public void groups(Activations x, int at, Activations out, int count) {
        elements.norm(count, x, at, weight, eps, out);
    }
}
