package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Four rows of Q6_K (Q6_K) times a token, in the order of [Q6_KPairs].
///
/// Each register of activations is loaded once for all rows. There is a sum for each token and row,
/// and in registers one of each row's scales of a tile.
public final class Q6_KQuads extends QuadMicroKernel {
    private static final Vec[][] LEVELS = {
        Operand.zmms(0, 4), Operand.zmms(4, 4), Operand.zmms(8, 4), Operand.zmms(12, 4)
    };
    private static final Vec[] SCALES = Operand.zmms(16, 4);
    private static final Vec[] DOTS = Operand.zmms(20, 4);
    private static final Vec Q = zmm(24);
    private static final Vec[] SCALE_SUMS = Operand.zmms(25, 4);
    private static final Vec NIBBLE = zmm(29);
    private static final Vec PAIRS = zmm(30);
    private static final Vec SCALE_BYTES = zmm(31);

    public Q6_KQuads() {
        super(4);
    }

    @Override
    public void constants(Assembler a) {
        a.vmovdqu(NIBBLE, a.dwords(0x0F0F0F0F));
        a.vmovdqu(PAIRS, a.dwords(0x33333333));
        a.vmovdqu(SCALE_BYTES, a.constant(Q6_KPairs::scaleByte));
    }

    @Override
    public void beginTile(Assembler a) {
        for (Vec v : SCALE_SUMS) {
            a.zero(v);
        }
    }

    @Override
    public void unpack(Assembler a) {
        Operand[] order = Q6_KPairs.highOrder(a);
        for (int r = 0; r < ROWS.length; r++) {
            Vec[] high = {DOTS[1], DOTS[2]};
            Q6_KPairs.unpackLevels(a, ROWS[r], LEVELS[r], Q, high, order, NIBBLE, PAIRS);
            Q6_KPairs.unpackScales(a, ROWS[r], SCALES[r], DOTS[0], SCALE_BYTES);
            a.vaddps(SCALE_SUMS[r], SCALE_SUMS[r], SCALES[r]);
        }
    }

    @Override
    public void token(Assembler a, int x, int sums, boolean first) {
        a.vmovdqu(DOTS[0], mem(X, x + Q6_KPairs.START));
        for (int r = 1; r < ROWS.length; r++) {
            a.vmovdqu(DOTS[r], DOTS[0]);
        }
        for (int k = 0; k < 4; k++) {
            a.vmovdqu(Q, mem(X, x + 64 * k));
            for (int r = 0; r < ROWS.length; r++) {
                a.vpdpbusd(DOTS[r], LEVELS[r][k], Q);
            }
        }
        for (int r = 0; r < ROWS.length; r++) {
            if (first) {
                a.vmulps(DOTS[r], DOTS[r], SCALES[r]);
            } else {
                a.vfmadd213ps(DOTS[r], SCALES[r], mem(SUMS, sums + 64 * r));
            }
            a.vmovdqu(mem(SUMS, sums + 64 * r), DOTS[r]);
        }
    }

    @Override
    public void endTile(Assembler a, int x, int token, boolean first) {
        emitEnd(a, x, token, DOTS, first);
        for (int r = 0; r < ROWS.length; r++) {
            a.vmovdqu(sumBefore(4 * token + r), DOTS[r]);
        }
    }

    /// Computes the sums of a token after a tile.
    private static void emitEnd(Assembler a, int x, int token, Vec[] sums, boolean first) {
        Vec bias = SCALES[0];
        Vec dx = SCALES[1];
        Vec none = Q;
        a.zero(none);
        a.vmovdqu(bias, a.constant(-PackedActivations.BIAS));
        a.vmovdqu(dx, mem(X, x));
        for (int r = 0; r < ROWS.length; r++) {
            a.vmovdqu(sums[r], sum(4 * token + r));
            a.vfmadd231ps(sums[r], SCALE_SUMS[r], bias);
            a.vfmadd213ps(sums[r], dx, first ? none : sumBefore(4 * token + r));
        }
    }

    @Override
    public void results(Assembler a, int x, boolean first) {
        Vec t = zmm(8);
        for (int token = 0; token < 2; token++) {
            emitEnd(a, token * x, token, Operand.zmms(4 * token, 4), first);
        }
        for (int i = 0; i < 4; i++) {
            StreamMicroKernel.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        for (int i = 0; i < 2; i++) {
            StreamMicroKernel.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        addBlocks(a);
    }
}
