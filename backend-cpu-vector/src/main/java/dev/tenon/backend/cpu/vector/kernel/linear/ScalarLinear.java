package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.quant.QuantFormat;

/// The kernel for any format: decodes a weight row with the format's own decoder, then multiplies in plain
/// Java.
///
/// Each decoded row serves all tokens of the call. Needs no Vector API.
public final class ScalarLinear implements FloatLinear {
    private final QuantFormat format;
    private final String name;

    /// Creates the kernel.
    ///
    /// @param format decodes the rows
    /// @param name what reports call it
    public ScalarLinear(QuantFormat format, String name) {
        this.format = format;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Support.Level level() {
        return Support.Level.GENERIC;
    }

    @Override
    public int scratchFloats(int n) {
        return n;
    }

    @Override
    public int scratchBytes(int n) {
        return 0;
    }

    @Override
    public void run(LinearCall call, float[] x, Scratch scratch) {
        float[] row = scratch.floats();
        float[] out = call.out.array();
        int n = call.n;
        for (int r = 0; r < call.rows; r++) {
            format.dequantize(call.weights, call.rowAt(r), row, 0, n);
            for (int t = 0; t < call.tokens; t++) {
                out[call.outOffset + t * call.outStride + r] = dot(row, x, t * n, n);
            }
        }
    }

    /// Sums in eight strands, so that rounding errors stay small and the processor has work to overlap.
    ///
    /// @param w `[n]`
    /// @param x holds the other factors
    /// @param xOffset index of the first of them
    /// @param n how many
    /// @return the sum of the products
    public static float dot(float[] w, float[] x, int xOffset, int n) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        float s4 = 0;
        float s5 = 0;
        float s6 = 0;
        float s7 = 0;
        int i = 0;
        for (; i + 8 <= n; i += 8) {
            int o = xOffset + i;
            s0 += w[i] * x[o];
            s1 += w[i + 1] * x[o + 1];
            s2 += w[i + 2] * x[o + 2];
            s3 += w[i + 3] * x[o + 3];
            s4 += w[i + 4] * x[o + 4];
            s5 += w[i + 5] * x[o + 5];
            s6 += w[i + 6] * x[o + 6];
            s7 += w[i + 7] * x[o + 7];
        }
        for (; i < n; i++) {
            s0 += w[i] * x[xOffset + i];
        }
        return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7));
    }
}
