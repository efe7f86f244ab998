package dev.tenon.backend.cpu.vector.math;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;

/// What becomes of the first projections of a feed-forward layer: `act(gate) * up`, the gate of gpt-oss, or
/// `act(gate)` alone, with the only projection in the gate's place. The result replaces the gate.
///
/// @param elements computes it
/// @param op a [CoreOp.Activate] or a [CoreOp.SwigluOai]
/// @param gated whether there is a second projection
public record GateMath(ElementDispatch elements, CoreOp op, boolean gated) {
    /// {@return the activation function}
    public Activation activation() {
        return op instanceof CoreOp.Activate activate ? activate.activation() : Activation.SILU;
    }

    /// {@return whether another bundle's kernel computes all of it}
    public boolean byKernel() {
        return gated && elements.kernelGates(activation());
    }

    /// Computes some columns of some rows.
    ///
    /// @param rows number of rows
    /// @param from first column
    /// @param to column after the last
    /// @param gate `[rows, width]`
    /// @param up `[rows, width]`; clobbered
    public void columns(int rows, int from, int to, Activations gate, Activations up) {
        for (int t = 0; t < rows; t++) {
            int row = t * gate.width;
            if (!gated) {
                elements.math().activate(activation(), gate.data, gate.data, row + from, row + to);
            } else {
                clamp(gate.data, up.data, row + from, row + to);
            }
        }
        if (gated) {
            elements.gate(activation(), rows, from, to, gate, up);
        }
    }

    /// Computes a tile and copies it to some columns of some rows.
    ///
    /// @param rows number of rows
    /// @param from first column
    /// @param to column after the last
    /// @param tile `[rows, to - from]`; clobbered
    /// @param out `[rows, width]`
    public void tile(int rows, int from, int to, GateTile tile, Activations out) {
        int n = to - from;
        range(tile.gate(), tile.up(), 0, rows, n);
        for (int t = 0; t < rows; t++) {
            System.arraycopy(tile.gate().array(), t * n, out.data, t * out.width + from, n);
        }
    }

    /// Computes rows that follow each other.
    ///
    /// @param gate gates
    /// @param up second projections; clobbered
    /// @param at index of the first
    /// @param rows number of rows
    /// @param n elements in a row
    public void range(HostFloats gate, HostFloats up, int at, int rows, int n) {
        int end = at + rows * n;
        if (!gated) {
            elements.math().activate(activation(), gate.array(), gate.array(), at, end);
        } else {
            clamp(gate.array(), up.array(), at, end);
            elements.gate(activation(), rows, n, at, gate, up);
        }
    }

    /// Makes SiLU's arguments of those of gpt-oss: `a / (1 + e^(-alpha a)) * (b + offset)` is
    /// `silu(alpha a) * (b + offset) / alpha`.
    private void clamp(float[] gate, float[] up, int from, int to) {
        if (op instanceof CoreOp.SwigluOai s) {
            clamp(gate, up, from, to, s.alpha(), s.limit(), s.offset());
        }
    }

    private static void clamp(float[] gate, float[] up, int from, int to, float alpha, float limit, float offset) {
        float inverse = 1 / alpha;
        for (int i = from; i < to; i++) {
            gate[i] = alpha * Math.min(gate[i], limit);
            up[i] = (Math.max(-limit, Math.min(up[i], limit)) + offset) * inverse;
        }
    }
}
