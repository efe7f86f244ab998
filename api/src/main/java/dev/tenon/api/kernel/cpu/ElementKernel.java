package dev.tenon.api.kernel.cpu;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.Kernel;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for what a step does with single elements on CPU devices: gated activations, norms and sums of rows
/// of float32.
///
/// Segments are float32, on the heap (arrays) or off it, borrowed for the call; places and strides count
/// elements. So that a result depends neither on the kernel nor on what else is in a call, each operation and
/// its order are fixed. All numbers are float32 unless said, `fma` rounds once:
///
/// ```
/// silu(x)      = x / (e^-x + 1)
/// gelu_tanh(x) = x / (e^(x * fma(x * x, b, a)) + 1)       a = -2 sqrt(2 / pi), b = a * 0.044715
/// norm         : strand[j] = fma over ascending i with i % 32 = j of x[i] * x[i], from 0
///                sum       = tree(strand[j])                       tree: halves, quarters, ...
///                factor    = (float32) (1 / sqrt(sum / n + eps))   in float64
///                out[i]    = x[i] * factor * weight[i]
/// ```
///
/// `e^x` is that of [AttentionKernel], and infinite above 88.7. Where a result is not a number, its bits are
/// any that are not.
///
/// Stateless and safe for any thread.
@ConsumerType
public interface ElementKernel extends Kernel {
    /// {@return whether [#gate] computes an activation}
    ///
    /// @param activation which
    boolean accepts(Activation activation);

    /// Computes `gate[r][i] = f(gate[r][i]) * up[r][i]` for some rows.
    ///
    /// @param activation the function `f`; [#accepts] it
    /// @param rows number of rows
    /// @param n elements in a row
    /// @param gate arguments and results
    /// @param up factors
    /// @param at where the first row begins in both
    /// @param stride elements from one row to the next in both
    /// @throws dev.tenon.api.error.BackendException if an argument is outside of these limits
    void gate(Activation activation, int rows, int n, MemorySegment gate, MemorySegment up, long at, long stride);

    /// Norms some rows, each by the root of its mean square; rows follow each other.
    ///
    /// @param rows number of rows
    /// @param x source
    /// @param xAt where the first row begins
    /// @param weight `[n]`, which says how long a row is
    /// @param eps added to the mean square
    /// @param out results; may be `x` with the same place
    /// @param outAt where the first row begins
    /// @throws dev.tenon.api.error.BackendException if an argument is outside of these limits
    void norm(int rows, MemorySegment x, long xAt, MemorySegment weight, float eps, MemorySegment out, long outAt);

    /// Adds some rows to others: `out[r][i] += x[r][i]`.
    ///
    /// @param rows number of rows
    /// @param n elements in a row
    /// @param x what is added
    /// @param out what it is added to
    /// @param at where the first row begins in both
    /// @param stride elements from one row to the next in both
    /// @throws dev.tenon.api.error.BackendException if an argument is outside of these limits
    void add(int rows, int n, MemorySegment x, MemorySegment out, long at, long stride);

    /// {@return the element type of rows}
    @Override
    default String format() {
        return "F32";
    }

    @Override
    default String deviceKind() {
        return "cpu";
    }

    @Override
    default String op() {
        return "elements";
    }
}
