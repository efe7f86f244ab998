package dev.tenon.backend.cpu.vector.math;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.memory.Activations;
import java.util.Arrays;

/// Root-mean-square norm of groups.
///
/// @param weight `[group]`, float32; not copied
/// @param eps added to the mean square
/// @param elements computes it
public record RmsNormMath(HostFloats weight, float eps, ElementDispatch elements) implements RowNorm {
    /// {@return a norm without a weight: all are 1}
    ///
    /// @param length elements of a group
    /// @param eps added to the mean square
    /// @param elements computes it
    public static RmsNormMath plain(int length, float eps, ElementDispatch elements) {
        float[] ones = new float[length];
        Arrays.fill(ones, 1);
        return new RmsNormMath(new HostFloats(ones), eps, elements);
    }

    @Override
    public int group() {
        return weight.length();
    }

    @Override
    public void groups(Activations x, int at, Activations out, int count) {
        elements.norm(count, x, at, weight, eps, out);
    }
}
