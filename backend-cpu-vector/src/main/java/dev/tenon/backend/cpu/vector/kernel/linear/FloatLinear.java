package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.LinearCall;

/// Multiplies rows of a weight matrix by rows of activations.
///
/// The value for a (weight row, token) pair depends on nothing else in the call: neither on how many
/// tokens or rows go together nor on where ranges are cut. Stateless and safe for any thread.
public interface FloatLinear {
    /// {@return what reports call it, such as `q6_k.vector512`}
    String name();

    /// {@return whether it is a fast one}
    Support.Level level();

    /// {@return floats of scratch that a call needs}
    ///
    /// @param n elements in a weight row
    int scratchFloats(int n);

    /// {@return int8 elements of scratch that a call needs}
    ///
    /// @param n elements in a weight row
    int scratchBytes(int n);

    /// Computes the sums of a call, `x + t * n` being the activation row of token `t`.
    ///
    /// @param call what is multiplied, and where sums go; there are no packed rows
    /// @param x activations `[tokens, n]`; borrowed
    /// @param scratch memory of the calling thread
    void run(LinearCall call, float[] x, Scratch scratch);
}
