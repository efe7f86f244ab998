package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.block.StreamMicroKernel.EVEN_LANES;
import static dev.tenon.kernels.x86.block.StreamMicroKernel.ODD_LANES;
import static dev.tenon.kernels.x86.format.Q4_KBlock.QS;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel32;

/// Two rows of Q4_K (Q4_K) times some tokens.
///
/// Lanes are those of [PairMicroKernel32]. The dwords of both rows are put side by side and
/// unpacked to levels of their lower nibbles and of their upper ones; a register takes two lanes of
/// each 128 bits from the former and two from the latter. So eight registers have the eight dwords
/// of each group, in the upper two lanes in exchanged pairs.
public final class Q4_KPairs extends PairMicroKernel32 {
    private static final int REGISTERS = 8;
    /// Spread: levels, then dx, u and c.
    private static final int DX = 64 * REGISTERS;
    private static final int U = DX + 64;
    private static final int C = U + 64;
    /// Tokens that are multiplied in turns, so that none waits for its last product.
    private static final int TURNS = 4;

    private static final Vec[] LEVELS = Operand.zmms(16, REGISTERS);
    private static final Vec SCALES = zmm(24);
    private static final Vec MINS = zmm(25);
    private static final Vec[] DOTS = Operand.zmms(26, TURNS);
    private static final Vec T = zmm(30);
    private static final Vec NIBBLE = zmm(31);

    public Q4_KPairs() {
        super(C + 64);
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
        for (int k = 0; k < REGISTERS; k++) {
            int register = k;
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(levels[h], a.constant(i -> (8 * group(i) + dword(register, i)) % 32));
                a.vpermi2d(levels[h], part[h], mem(q, 128 * h + 64));
            }
            // groups 0 to 3 are in the first part
            a.vshufi64x2(levels[0], levels[0], levels[1], UPPER_OF_SECOND);
            a.vmovdqu(mem(to, 64 * k), levels[0]);
        }
        int[] from = {0, 64, 32};
        int[] at = {DX, U, C};
        for (int i = 0; i < 3; i++) {
            spreadScales(a, mem(dx, from[i]), mem(to, at[i]));
        }
    }

    @Override
    public void constants(Assembler a) {
        a.vmovdqu(NIBBLE, a.dwords(0x0F0F0F0F));
    }

    @Override
    public void unpack(Assembler a) {
        unpackScales(a);
        Vec[] rows = {DOTS[0], DOTS[1], DOTS[2], DOTS[3]};
        for (int r = 0; r < 2; r++) {
            Vec even = rows[r];
            Vec odd = rows[2 + r];
            a.vmovdqu(odd, mem(ROWS[r], QS));
            a.vshufi64x2(even, odd, mem(ROWS[r], QS + 64), EVEN_LANES);
            a.vshufi64x2(odd, odd, mem(ROWS[r], QS + 64), ODD_LANES);
        }
        for (int odd = 0; odd < 2; odd++) {
            Vec low = LEVELS[4 * odd];
            Vec high = LEVELS[4 * odd + 2];
            a.vpunpckldq(low, rows[2 * odd], rows[2 * odd + 1]);
            a.vpunpckhdq(high, rows[2 * odd], rows[2 * odd + 1]);
            for (int p = 0; p < 2; p++) {
                Vec dwords = LEVELS[4 * odd + 2 * p];
                Vec next = LEVELS[4 * odd + 2 * p + 1];
                a.vpsrld(T, dwords, 4);
                a.vpand(T, T, NIBBLE);
                a.vpand(dwords, dwords, NIBBLE);
                a.vshufps(next, dwords, T, 0x4E);
                a.vshufps(dwords, dwords, T, 0xE4);
            }
        }
    }

    /// Makes scales and minimums of the heads of both rows ([Q4_KBlock]), which are in 128 bits
    /// each.
    private static void unpackScales(Assembler a) {
        Vec heads = DOTS[0];
        Vec bytes = DOTS[1];
        a.vmovdqu(heads.x(), mem(ROWS[0]));
        a.vinserti128(heads.y(), heads.y(), mem(ROWS[1]), 1);
        // dwords: scales and minimums 0 to 3, scales and minimums 4 to 7
        a.vpshufd(bytes.y(), heads.y(), 0xF9);
        a.vpsrlvd(bytes.y(), bytes.y(), a.constant(i -> i % 4 == 3 ? 4 : 0));
        a.vpand(bytes.y(), bytes.y(), a.constant(i -> i % 4 < 2 ? 0x3F3F3F3F : 0x0F0F0F0F));
        a.vpshufd(T.y(), heads.y(), 0x90);
        a.vpsrld(T.y(), T.y(), 2);
        a.vpternlogd(bytes.y(), T.y(), a.constant(i -> i % 4 < 2 ? 0 : 0x30303030), 0xF8);
        a.vcvtph2ps(heads, heads.y());
        for (int m = 0; m < 2; m++) {
            int min = m;
            Vec v = m == 0 ? SCALES : MINS;
            a.vmovdqu(v, a.constant(i -> 4 * row(i) + group(i) / 4 * 2 + min));
            a.vpermd(v, v, bytes);
            a.vpshufb(v, v, a.constant(i -> 0x80808000 | 4 * (i % 4) + group(i) % 4));
            a.vcvtdq2ps(v, v);
            a.vmovdqu(T, a.constant(i -> 8 * row(i) + min));
            a.vpermps(T, T, heads);
            a.vmulps(v, v, T);
        }
    }

    @Override
    public void tokens(Assembler a, int tokens) {
        for (int turn = 0; turn < tokens; turn += TURNS) {
            int turns = Math.min(TURNS, tokens - turn);
            for (int i = 0; i < turns; i++) {
                a.vmovdqu(DOTS[i], a.constant(PackedActivations.BIAS));
            }
            for (int k = 0; k < REGISTERS; k++) {
                for (int i = 0; i < turns; i++) {
                    a.vpdpbusd(DOTS[i], LEVELS[k], x(turn + i, 64 * k));
                }
            }
            for (int i = 0; i < turns; i++) {
                a.vmovdqu(T, x(turn + i, DX));
                a.vfmadd213ps(DOTS[i], T, x(turn + i, U));
                a.vfmadd231ps(zmm(turn + i), DOTS[i], SCALES);
                a.vfmadd231ps(zmm(turn + i), MINS, x(turn + i, C));
            }
        }
    }
}
