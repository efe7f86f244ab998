package dev.tenon.backend.cpu.vector.math;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Gated activations, norms and sums of a plan's steps: another bundle's kernel where one is offered, else this
/// backend's own arithmetic. Both give the same bits. Safe for any thread.
///
/// @param math this backend's arithmetic
/// @param kernel another bundle's, or null
public record ElementDispatch(ElementMath math, ElementKernel kernel) {
    /// {@return whether gated activations come from the kernel}
    ///
    /// @param activation which
    public boolean kernelGates(Activation activation) {
        return kernel != null && kernel.accepts(activation);
    }

    /// Computes `gate = f(gate) * up` in some columns of some rows.
    ///
    /// @param activation the function `f`
    /// @param rows number of rows
    /// @param from first column
    /// @param to column after the last
    /// @param gate `[rows, width]`
    /// @param up `[rows, width]`, the same width
    public void gate(Activation activation, int rows, int from, int to, Activations gate, Activations up) {
        if (kernelGates(activation)) {
            kernel.gate(activation, rows, to - from, gate.view(), up.view(), from, gate.width);
            return;
        }
        for (int t = 0; t < rows; t++) {
            int row = t * gate.width;
            math.gate(activation, gate.data, up.data, row + from, row + to);
        }
    }

    /// Computes `gate = f(gate) * up` in rows that follow each other.
    ///
    /// @param activation the function `f`
    /// @param rows number of rows
    /// @param n elements in a row
    /// @param at index of the first
    /// @param gate arguments and results
    /// @param up factors
    public void gate(Activation activation, int rows, int n, int at, HostFloats gate, HostFloats up) {
        if (kernelGates(activation)) {
            kernel.gate(activation, rows, n, gate.view(), up.view(), at, n);
            return;
        }
        math.gate(activation, gate.array(), up.array(), at, at + rows * n);
    }

    /// Adds some columns of some rows to others: `out += x`.
    ///
    /// @param rows number of rows
    /// @param from first column
    /// @param to column after the last
    /// @param x `[rows, width]`
    /// @param out `[rows, width]`, the same width
    public void add(int rows, int from, int to, Activations x, Activations out) {
        if (kernel != null) {
            kernel.add(rows, to - from, x.view(), out.view(), from, out.width);
            return;
        }
        for (int t = 0; t < rows; t++) {
            add(out.data, x.data, t * out.width + from, t * out.width + to);
        }
    }

    /// Adds a range in a method of its own: it is what the JIT compiler finds hot in the first step, and as a
    /// loop of a step it has the whole linear kernel compiled with it.
    private static void add(float[] out, float[] x, int from, int to) {
        for (int i = from; i < to; i++) {
            out[i] += x[i];
        }
    }

    /// Norms groups that follow each other; source and target may be the same.
    ///
    /// @param groups number of groups
    /// @param x source
    /// @param at where the first group starts, in both
    /// @param weight `[group]`
    /// @param eps added to the mean square
    /// @param out target
    public void norm(int groups, Activations x, int at, HostFloats weight, float eps, Activations out) {
        if (kernel != null) {
            kernel.norm(groups, x.view(), at, weight.view(), eps, out.view(), at);
            return;
        }
        int n = weight.length();
        for (int from = at; from < at + groups * n; from += n) {
            double square = (double) math.squares(x.data, from, n) / n;
            math.scale(x.data, from, (float) (1 / Math.sqrt(square + eps)), weight.array(), out.data, from);
        }
    }
}
