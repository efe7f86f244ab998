package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.format.Q6_KBlock.D;
import static dev.tenon.kernels.x86.format.Q6_KBlock.QH;
import static dev.tenon.kernels.x86.format.Q6_KBlock.SCALES;
import static dev.tenon.kernels.x86.format.Q6_KBlock.TOP;
import static dev.tenon.kernels.x86.format.Q6_KBlock.group;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Two rows of Q6_K (Q6_K) times some tokens.
///
/// Lane i of a register has group `i / 4 + {0, 8, 4, 12}[i % 4]`. The dwords of both parts of the
/// low bits are put side by side and unpacked to levels of their lower nibbles and of their upper
/// ones; a register takes two lanes of each 128 bits from the former and two from the latter. So
/// four registers have the four dwords of each group:
///
/// ```
/// register                     0            1            2            3
/// dwords of lanes 4b to 4b+3   0, 0, 1, 1   1, 1, 0, 0   2, 2, 3, 3   3, 3, 2, 2
/// ```
///
/// There is a sum for each token and row, and in a tile one of each row's scales.
public final class Q6_KPairs extends PairMicroKernel {
    /// Spread: levels, then what dot products start with.
    static final int START = 256;
    /// Exchanges lanes 0 and 1 of each 128 bits with lanes 2 and 3.
    private static final int EXCHANGE = 0x4E;

    private static final Vec[][] LEVELS = {Operand.zmms(16, 4), Operand.zmms(20, 4)};
    private static final Vec[] SCALE = Operand.zmms(24, 2);
    private static final Vec[] DOTS = Operand.zmms(26, 2);
    private static final Vec[] SCALE_SUMS = Operand.zmms(28, 2);
    private static final Vec NIBBLE = zmm(30);
    private static final Vec PAIRS = zmm(31);
    /// Dot products of the tokens that are multiplied in turns, so that products seldom wait for
    /// the one before: constants are loaded for each span instead.
    private static final Vec[][] TURN = {DOTS, {NIBBLE, PAIRS}};

    public Q6_KPairs() {
        super(START + 64, 2);
    }

    /// {@return which dword of its group lane i of a register of levels has}
    private static int dword(int register, int i) {
        return register / 2 * 2 + (register % 2 ^ i % 4 / 2);
    }

    @Override
    public void spread(Assembler a, Gpr q, Gpr dx, Gpr to) {
        Vec[] part = {zmm(0), zmm(1)};
        Vec[] levels = {zmm(2), zmm(3)};
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(part[h], mem(q, 128 * h));
        }
        for (int k = 0; k < 4; k++) {
            int register = k;
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(levels[h], a.constant(i -> (4 * group(i) + dword(register, i)) % 32));
                a.vpermi2d(levels[h], part[h], mem(q, 128 * h + 64));
            }
            a.vpternlogd(levels[0], levels[1], a.constant(i -> group(i) < 8 ? 0 : -1), SELECT);
            a.vmovdqu(mem(to, 64 * k), levels[0]);
        }
        inOrder(a, mem(dx), mem(to, START));
    }

    @Override
    public void spreadTile(Assembler a, Gpr dx, Gpr to) {
        inOrder(a, mem(dx), mem(to));
    }

    /// Puts numbers of the groups of a span into the order of lanes.
    private static void inOrder(Assembler a, Mem from, Mem to) {
        a.vmovdqu(zmm(0), a.constant(Q6_KBlock::group));
        a.vpermps(zmm(0), zmm(0), from);
        a.vmovdqu(to, zmm(0));
    }

    @Override
    public void constants(Assembler a) {
        // none last longer than unpacking
    }

    @Override
    public void unpack(Assembler a) {
        Operand[] order = highOrder(a);
        a.vmovdqu(NIBBLE, a.dwords(0x0F0F0F0F));
        a.vmovdqu(PAIRS, a.dwords(0x33333333));
        for (int r = 0; r < 2; r++) {
            unpackLevels(a, ROWS[r], LEVELS[r], SCALE[r], DOTS, order, NIBBLE, PAIRS);
            unpackScales(a, ROWS[r], SCALE[r], DOTS[0], a.constant(Q6_KPairs::scaleByte));
            a.vaddps(SCALE_SUMS[r], SCALE_SUMS[r], SCALE[r]);
        }
    }

    /// Unpacks the scales of a row.
    ///
    /// @param w points to its span
    /// @param t temporary
    /// @param order [#scaleByte]
    static void unpackScales(Assembler a, Gpr w, Vec scales, Vec t, Operand order) {
        f16ToAll(a, mem(w, D), t);
        a.vmulps(t, t, a.constant(TOP));
        a.vbroadcasti32x4(scales, mem(w, SCALES));
        a.vpshufb(scales, scales, order);
        a.vcvtdq2ps(scales, scales);
        a.vmulps(scales, scales, t);
    }

    /// {@return which byte of a row's scales goes to lane i, at its top}
    static int scaleByte(int i) {
        return group(i) << 24 | 0x808080;
    }

    /// {@return [#highDword] of both pairs of registers}
    static Operand[] highOrder(Assembler a) {
        return new Operand[] {a.constant(i -> highDword(0, i)), a.constant(i -> highDword(1, i))};
    }

    /// {@return which dword of both tables of high bits goes with lane i of registers 2p and 2p +
    /// 1}
    ///
    /// Of lanes 4b to 4b + 3: dwords 0, 0, 1, 1 of both parts in turns; from the second table for b
    /// >= 2.
    private static int highDword(int p, int i) {
        return 4 * (2 * (i % 2) + i / 4 % 2) + 2 * p + i % 4 / 2 + i / 8 * 16;
    }

    /// Unpacks the levels of a row.
    ///
    /// @param w points to its span
    /// @param first temporary, like the two of `high`
    /// @param order [#highDword] of both pairs of registers
    static void unpackLevels(
            Assembler a, Gpr w, Vec[] levels, Vec first, Vec[] high, Operand[] order, Vec nibble, Vec pairs) {
        Vec second = levels[3];
        a.vpand(first, pairs, mem(w, QH));
        a.vpsrld(second, mem(w, QH), 2);
        a.vpand(second, second, pairs);
        a.vmovdqu(levels[0], mem(w));
        a.vpunpckhdq(levels[2], levels[0], mem(w, 64));
        a.vpunpckldq(levels[0], levels[0], mem(w, 64));
        for (int p = 0; p < 2; p++) {
            Vec low = levels[2 * p];
            Vec upper = levels[2 * p + 1];
            a.vmovdqu(high[0], order[p]);
            a.vpermi2d(high[0], first, second);
            a.vpslld(high[1], high[0], 4);
            a.vpternlogd(high[1], low, nibble, SELECT);
            a.vpsrld(low, low, 4);
            a.vpternlogd(high[0], low, nibble, SELECT);
            a.vshufps(low, high[1], high[0], 0xE4);
            a.vshufps(upper, high[1], high[0], EXCHANGE);
        }
    }

    @Override
    public void tokens(Assembler a, int tokens) {
        for (int t = 0; t < tokens; t += TURN.length) {
            turn(a, t, Math.min(TURN.length, tokens - t));
        }
    }

    private void turn(Assembler a, int first, int tokens) {
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(TURN[t][0], x(first + t, START));
            a.vmovdqu(TURN[t][1], TURN[t][0]);
        }
        for (int k = 0; k < 4; k++) {
            for (int t = 0; t < tokens; t++) {
                for (int r = 0; r < 2; r++) {
                    a.vpdpbusd(TURN[t][r], LEVELS[r][k], x(first + t, 64 * k));
                }
            }
        }
        for (int t = 0; t < tokens; t++) {
            for (int r = 0; r < 2; r++) {
                a.vfmadd231ps(zmm(2 * (first + t) + r), TURN[t][r], SCALE[r]);
            }
        }
    }

    @Override
    public void beginTile(Assembler a) {
        for (Vec v : SCALE_SUMS) {
            a.zero(v);
        }
    }

    @Override
    public void endTile(Assembler a, int tokens, Gpr sums) {
        Vec dx = SCALE[0];
        Vec none = SCALE[1];
        Vec bias = LEVELS[0][0];
        a.vmovdqu(bias, a.constant(-PackedActivations.BIAS));
        if (sums == null) {
            a.zero(none);
        }
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(dx, x(t, 0));
            for (int r = 0; r < 2; r++) {
                Vec v = zmm(2 * t + r);
                a.vfmadd231ps(v, SCALE_SUMS[r], bias);
                a.vfmadd213ps(v, dx, sums == null ? none : mem(sums, 64 * v.number()));
            }
        }
    }

    @Override
    public void results(Assembler a, int tokens, Results out) {
        Vec t = DOTS[0];
        int quads = (tokens + 1) / 2;
        for (int i = 0; i < 2 * quads; i++) {
            StreamMicroKernel.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        for (int i = 0; i < quads; i++) {
            StreamMicroKernel.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        addBlocks(a, 0, quads, 0);
        for (int q = 0; q < quads; q++) {
            store(a, zmm(0), q, out, 2 * q, 2 * q + 1 < tokens ? 2 * q + 1 : -1);
        }
    }
}
