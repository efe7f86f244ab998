package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.format.Q8_0Block.BLOCK;
import static dev.tenon.kernels.x86.format.Q8_0Block.QS;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PairMicroKernel32;

/// Two rows of Q8_0 (Q8_0) times some tokens.
///
/// Lanes are those of [PairMicroKernel32]. The blocks of both rows are transposed, so that eight
/// registers have the eight dwords of each; of each of them one register of words gets bytes 0 and
/// 2 of each lane, the next one bytes 1 and 3.
public final class Q8_0Pairs extends PairMicroKernel32 {
    private static final int REGISTERS = 16;
    /// Spread: levels, then dx.
    private static final int DX = 64 * REGISTERS;
    /// Tokens that are multiplied in turns, so that none waits for its last product.
    private static final int TURNS = 4;
    /// First register that is not a sum.
    private static final int FIRST = 8;

    private static final Vec[] LEVELS = Operand.zmms(FIRST, REGISTERS);
    private static final Vec SCALES = zmm(24);
    private static final Vec[] DOTS = Operand.zmms(25, TURNS);
    private static final Vec[] PIECES = Operand.zmms(28, 4);

    public Q8_0Pairs() {
        super(DX + 64);
    }

    @Override
    public void spread(Assembler a, Gpr q, Gpr dx, Gpr to) {
        // words 0, 2, 1, 3 of each 64 bits
        Vec words = zmm(0);
        a.vmovdqu(words, a.constant(i -> 0x01010101 * (i % 4 / 2 * 8) + (i % 2 == 0 ? 0x05040100 : 0x07060302)));
        Vec[] groups = Operand.zmms(1, 8);
        for (int g = 0; g < 8; g++) {
            a.vmovdqu(groups[g], mem(q, 64 * g));
            a.vpshufb(groups[g], groups[g], words);
        }
        Vec t = zmm(9);
        Vec u = zmm(10);
        for (int high = 0; high < 2; high++) {
            // groups 2b and 2b + 1 in turns; of each four dwords, 0 and 1, or 2 and 3
            Vec[] pairs = Operand.zmms(11, 4);
            for (int b = 0; b < 4; b++) {
                if (high == 0) {
                    a.vpunpckldq(pairs[b], groups[2 * b], groups[2 * b + 1]);
                } else {
                    a.vpunpckhdq(pairs[b], groups[2 * b], groups[2 * b + 1]);
                }
            }
            for (int c = 0; c < 4; c++) {
                // lane c of each pair
                int lanes = c % 2 == 0 ? 0x88 : 0xDD;
                a.vshufi64x2(t, pairs[0], pairs[1], c / 2 == 0 ? 0x44 : 0xEE);
                a.vshufi64x2(u, pairs[2], pairs[3], c / 2 == 0 ? 0x44 : 0xEE);
                a.vshufi64x2(t, t, u, lanes);
                a.vpshufd(u, t, 0x50);
                a.vmovdqu(mem(to, 64 * (4 * c + 2 * high)), u);
                a.vpshufd(u, t, 0xFA);
                a.vmovdqu(mem(to, 64 * (4 * c + 2 * high + 1)), u);
            }
        }
        spreadScales(a, mem(dx), mem(to, DX));
    }

    @Override
    public void constants(Assembler a) {
        // none are needed
    }

    @Override
    public void unpack(Assembler a) {
        unpackScales(a);
        for (int part = 0; part < 2; part++) {
            for (int j = 0; j < 4; j++) {
                for (int b = 0; b < 4; b++) {
                    int lane = 4 * b + j;
                    var piece = mem(ROWS[row(lane)], BLOCK * group(lane) + QS + 16 * part);
                    if (b == 0) {
                        a.vmovdqu(PIECES[j].x(), piece);
                    } else {
                        a.vinserti128(PIECES[j], PIECES[j], piece, b);
                    }
                }
            }
            Vec[] w = Operand.zmms(FIRST + 8 * part, 8);
            a.vpunpckldq(w[1], PIECES[0], PIECES[1]);
            a.vpunpckhdq(w[3], PIECES[0], PIECES[1]);
            a.vpunpckldq(w[5], PIECES[2], PIECES[3]);
            a.vpunpckhdq(w[7], PIECES[2], PIECES[3]);
            for (int d = 0; d < 4; d += 2) {
                a.vpunpcklqdq(w[2 * d], w[d + 1], w[d + 5]);
                a.vpunpckhqdq(w[2 * d + 2], w[d + 1], w[d + 5]);
            }
            for (int d = 0; d < 4; d++) {
                a.vpsraw(w[2 * d + 1], w[2 * d], 8);
                a.vpsllw(w[2 * d], w[2 * d], 8);
                a.vpsraw(w[2 * d], w[2 * d], 8);
            }
        }
    }

    /// Takes the dwords that the scales of two blocks are in from each 64 bytes.
    private static void unpackScales(Assembler a) {
        Vec[] rows = {PIECES[0], PIECES[1]};
        Vec t = PIECES[2];
        Vec upper = PIECES[3];
        for (int r = 0; r < 2; r++) {
            for (int part = 0; part < 2; part++) {
                Vec v = part == 0 ? rows[r] : upper;
                a.vmovdqu(t, mem(ROWS[r], 4 * BLOCK * part));
                // group 2b is in dword 0, group 2b + 1 in dword 8; of the second 64 bytes where b is odd
                a.vmovdqu(v, a.constant(i -> i / 4 % 2 * 16 + i % 4 / 2 * 8));
                a.vpermi2d(v, t, mem(ROWS[r], 4 * BLOCK * part + 2 * BLOCK));
            }
            a.vshufi64x2(rows[r], rows[r], upper, UPPER_OF_SECOND);
        }
        a.vpternlogd(rows[0], rows[1], a.constant(i -> -row(i)), SELECT);
        a.vpsrlvd(rows[0], rows[0], a.constant(i -> group(i) % 2 * 16));
        a.vpmovdw(rows[0].y(), rows[0]);
        a.vcvtph2ps(SCALES, rows[0].y());
    }

    @Override
    public void tokens(Assembler a, int tokens) {
        for (int turn = 0; turn < tokens; turn += TURNS) {
            int turns = Math.min(TURNS, tokens - turn);
            for (int i = 0; i < turns; i++) {
                a.zero(DOTS[i]);
            }
            for (int k = 0; k < REGISTERS; k++) {
                for (int i = 0; i < turns; i++) {
                    a.vpdpwssd(DOTS[i], LEVELS[k], x(turn + i, 64 * k));
                }
            }
            for (int i = 0; i < turns; i++) {
                a.vcvtdq2ps(DOTS[i], DOTS[i]);
                a.vmulps(DOTS[i], DOTS[i], x(turn + i, DX));
                a.vfmadd231ps(zmm(turn + i), DOTS[i], SCALES);
            }
        }
    }
}
