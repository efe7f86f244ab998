package dev.tenon.backend.nv.tegra.emulator.kernels;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;

/// What happens to a query or key head before attention: a norm, then a rotation, each if there is
/// one.
final class Head {
    private final float eps;
    private final float[] table;
    private final int pairs;
    private final int pairing;
    private final int half;
    private final KernelLaunch launch;
    private final long normVa;

    /// @param launch the launch
    /// @param norm address of the norm's weight, or 0
    /// @param eps of the norm
    /// @param table address of cosines and sines, or 0
    /// @param ropeDim elements that are rotated
    /// @param pairing 0: neighbours are a pair; 1: elements half of `ropeDim` apart
    /// @param rows tokens in the table
    Head(KernelLaunch launch, long norm, float eps, long table, int ropeDim, int pairing, int rows) {
        this(launch, norm, eps, table, ropeDim, pairing, rows, ropeDim / 2);
    }

    /// @param half pairs that are of elements among themselves; the rest as above
    Head(KernelLaunch launch, long norm, float eps, long table, int ropeDim, int pairing, int rows, int half) {
        this.launch = launch;
        this.normVa = norm;
        this.eps = eps;
        this.pairs = table == 0 ? 0 : ropeDim / 2;
        this.table = Arrays.floats(launch, table, 2L * rows * pairs);
        this.pairing = pairing;
        this.half = half;
    }

    /// Prepares one head.
    ///
    /// @param t token
    /// @param x where it is
    /// @param from its first element
    /// @param out where it goes
    /// @param to first element there
    /// @param length elements
    void prepare(int t, float[] x, int from, float[] out, int to, int length) {
        float[] head = java.util.Arrays.copyOfRange(x, from, from + length);
        if (normVa != 0) {
            Arrays.norm(head, 0, length, Arrays.floats(launch, normVa, length), eps, head, 0);
        }
        System.arraycopy(head, 0, out, to, length);
        for (int i = 0; i < pairs; i++) {
            int a = pairing == 0 ? 2 * i : i / half * 2 * half + i % half;
            int b = pairing == 0 ? a + 1 : a + half;
            float cosine = table[2 * (t * pairs + i)];
            float sine = table[2 * (t * pairs + i) + 1];
            out[to + a] = head[a] * cosine - head[b] * sine;
            out[to + b] = head[a] * sine + head[b] * cosine;
        }
    }
}
