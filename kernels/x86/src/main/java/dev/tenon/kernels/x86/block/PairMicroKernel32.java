package dev.tenon.kernels.x86.block;

import static dev.tenon.kernels.x86.asm.Operand.ymm;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Two rows of a format with groups of 32 times some tokens: one register of sums for each token,
/// of both rows.
///
/// Lanes 4b to 4b + 3 of a register belong to group 2b of the first and the second row, then to
/// group 2b + 1 of both.
public abstract class PairMicroKernel32 extends PairMicroKernel {
    private static final Vec T = zmm(17);

    public PairMicroKernel32(int spreadBytes) {
        super(spreadBytes, 1);
    }

    /// {@return the group in lane i}
    protected static int group(int i) {
        return i / 4 * 2 + i % 4 / 2;
    }

    /// {@return the row in lane i}
    protected static int row(int i) {
        return i % 2;
    }

    /// Spreads a float of each group; uses registers 0 and 1.
    protected static void spreadScales(Assembler a, Mem from, Mem to) {
        a.vmovdqu(zmm(0), a.constant(PairMicroKernel32::group));
        a.vmovdqu(ymm(1), from);
        a.vpermps(zmm(1), zmm(0), zmm(1));
        a.vmovdqu(to, zmm(1));
    }

    @Override
    public void results(Assembler a, int tokens, Results out) {
        int fours = (tokens + 3) / 4;
        for (int i = 0; i < fours; i++) {
            addBlocks(a, 4 * i, Math.min(4, tokens - 4 * i), i);
        }
        for (int i = 0; i < fours; i += 2) {
            Vec y = zmm(Math.min(i + 1, fours - 1));
            a.vshufps(T, zmm(i), y, 0x44);
            a.vshufps(zmm(i), zmm(i), y, 0xEE);
            a.vaddps(zmm(i), zmm(i), T);
            for (int q = 0; q < Math.min(4, tokens - 4 * i); q++) {
                int second = 4 * i + 4 + q;
                store(a, zmm(i), q, out, 4 * i + q, second < tokens ? second : -1);
            }
        }
    }
}
