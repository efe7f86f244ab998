package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.format.Q8_0Block.BLOCK;
import static dev.tenon.kernels.x86.format.Q8_0Block.QS;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Four rows of Q8_0 (Q8_0) at once.
///
/// Activations of 16 bits are taken apart into bytes, so that levels are multiplied as they are:
///
/// ```
/// q = 256 h + l                 h signed, l unsigned
/// level · q = 256 (level + 128) · h - 256 * 128 * sum of h + level · l
/// ```
///
/// `vpdpbusd` multiplies unsigned bytes with signed ones, so the first product has the levels
/// offset, and the second one the parts change places. What the offset adds is known once a call.
/// Everything is exact: the sum is that of `vpdpwssd`.
///
/// Four groups are in a register, 16 bytes of each (and in another one the other 16), in the order
/// of the first line. In the end lanes are rows:
///
/// ```
/// first    lane 0 to 3: groups 0, 2, 1, 3 of rows 0 to 3        second    groups 4, 6, 5, 7
/// ```
public final class Q8_0Streams extends StreamMicroKernel {
    /// Registers of one kind for a span: of the first four groups, their first and second 16, then
    /// of the others.
    private static final int PARTS = 4;
    /// Spread: lower bytes, upper bytes, what dot products start with, dx.
    private static final int UPPER = 64 * PARTS;
    private static final int START = 2 * UPPER;
    private static final int DX = START + 128;

    private static final int LOWER_PARTS = 0x44;
    private static final int UPPER_PARTS = 0xEE;

    private static final Vec[][] DOTS = {Operand.zmms(0, 4), Operand.zmms(4, 4)};
    private static final Vec[] SUMS = Operand.zmms(8, 2);
    private static final Vec X_Z = zmm(10);
    private static final Vec Y_Z = zmm(11);
    private static final Vec FIRST = zmm(12);
    private static final Vec T = zmm(13);
    private static final Vec[] LOWER = Operand.zmms(14, PARTS);
    private static final Vec[] STARTS = Operand.zmms(18, 2);
    private static final Vec[] D = Operand.zmms(20, 4);
    private static final Vec SIGN = zmm(24);
    private static final Vec[] D_WORDS = Operand.zmms(25, 2);

    public Q8_0Streams() {
        super(DX + 128);
    }

    /// {@return the group in 128-bit lane b of a part's registers}
    private static int group(int part, int b) {
        return 4 * part + (b == 1 ? 2 : b == 2 ? 1 : b);
    }

    @Override
    public void spread(Assembler a, Gpr q, Gpr dx, Gpr to) {
        Vec bytes = zmm(0);
        Vec start = zmm(1);
        a.vmovdqu(bytes, a.constant(i -> 0x06040200 + i % 2 * 0x08080808 + i % 4 / 2 * 0x01010101));
        for (int part = 0; part < 2; part++) {
            for (int upper = 0; upper < 2; upper++) {
                for (int pair = 0; pair < 2; pair++) {
                    pieces(a, q, 4 * part + pair, upper, bytes, zmm(4 + pair));
                }
                int at = upper * UPPER + 128 * part;
                a.vshufi64x2(zmm(6), zmm(4), zmm(5), LOWER_PARTS);
                a.vmovdqu(mem(to, at), zmm(6));
                a.vshufi64x2(zmm(7), zmm(4), zmm(5), UPPER_PARTS);
                a.vmovdqu(mem(to, at + 64), zmm(7));
            }
            // ~(-1 + 128 * sum) = -128 * sum
            a.vmovdqu(start, a.dwords(-1));
            a.vmovdqu(zmm(2), a.dwords(0x80808080));
            a.vpdpbusd(start, zmm(2), zmm(6));
            a.vpdpbusd(start, zmm(2), zmm(7));
            a.vpxor(start, start, a.dwords(-1));
            a.vmovdqu(mem(to, START + 64 * part), start);
            a.vmovdqu(zmm(2).y(), mem(dx));
            int h = part;
            a.vmovdqu(zmm(3), a.constant(i -> group(h, i / 4)));
            a.vpermps(zmm(3), zmm(3), zmm(2));
            a.vmovdqu(mem(to, DX + 64 * part), zmm(3));
        }
    }

    /// Puts the lower or upper bytes of two groups together: the first 16 of each, then the second
    /// 16.
    ///
    /// @param first the first group; the other is the second one after it
    private static void pieces(Assembler a, Gpr q, int first, int upper, Vec bytes, Vec to) {
        a.vmovdqu(zmm(2), mem(q, 64 * first));
        a.vpshufb(zmm(2), zmm(2), bytes);
        a.vmovdqu(zmm(3), mem(q, 64 * (first + 2)));
        a.vpshufb(zmm(3), zmm(3), bytes);
        // 64-bit indices: of every 16 bytes the lower or upper ones, of the second table from 8 on
        a.vmovdqu(to, a.constant(i -> i % 2 != 0 ? 0 : 2 * (i / 2 % 2) + i / 4 % 2 * 8 + i / 8 * 4 + upper));
        a.vpermi2q(to, zmm(2), zmm(3));
    }

    @Override
    public void constants(Assembler a) {
        load(a, SIGN, i -> 0x80808080);
        for (int k = 0; k < 2; k++) {
            int second = k;
            // the lower words of even lanes, the upper words of odd lanes
            load(
                    a,
                    D_WORDS[k],
                    i -> i % 4 / 2 != second ? 0x80808080 : 0x05040100 + i % 2 * 0x08080808 + i / 4 % 2 * 0x02020202);
        }
    }

    @Override
    public Vec[] sums() {
        return SUMS;
    }

    @Override
    public void span(Assembler a) {
        for (int i = 0; i < PARTS; i++) {
            a.vmovdqu(LOWER[i], x(64 * i));
        }
        for (int part = 0; part < 2; part++) {
            a.vmovdqu(STARTS[part], x(START + 64 * part));
        }
        for (int r = 0; r < ROWS.length; r++) {
            for (int part = 0; part < 2; part++) {
                emitDots(a, ROWS[r], part, DOTS[part][r]);
            }
        }
        emitScales(a);
        for (int part = 0; part < 2; part++) {
            Vec[] dots = DOTS[part];
            addLanes(a, dots, T);
            a.vcvtdq2ps(dots[0], dots[0]);
            a.vmulps(dots[0], dots[0], x(DX + 64 * part));
            a.vfmadd231ps(SUMS[part], dots[0], D[part]);
        }
    }

    private static void emitDots(Assembler a, Gpr w, int part, Vec dots) {
        Vec second = X_Z;
        loadGroups(a, w, part, 0, X_Z);
        loadGroups(a, w, part, 2, Y_Z);
        a.vshufi64x2(FIRST, X_Z, Y_Z, EVEN_LANES);
        a.vshufi64x2(second, X_Z, Y_Z, ODD_LANES);
        a.vmovdqu(dots, STARTS[part]);
        a.vpxor(T, FIRST, SIGN);
        a.vpdpbusd(dots, T, x(UPPER + 128 * part));
        a.vpxor(T, second, SIGN);
        a.vpdpbusd(dots, T, x(UPPER + 128 * part + 64));
        a.vpslld(dots, dots, 8);
        a.vpdpbusd(dots, LOWER[2 * part], FIRST);
        a.vpdpbusd(dots, LOWER[2 * part + 1], second);
    }

    /// Loads the two groups that lie in lanes b and b + 1.
    private static void loadGroups(Assembler a, Gpr w, int part, int b, Vec v) {
        a.vmovdqu(v.y(), mem(w, BLOCK * group(part, b) + QS));
        a.vinserti64x4(v, v, mem(w, BLOCK * group(part, b + 1) + QS), 1);
    }

    /// Makes the scales of all rows, in the order of the sums. A load where an even block starts
    /// has its scale in the lower part of 32 bits, and, 32 bytes on, that of the next block in the
    /// upper part.
    private static void emitScales(Assembler a) {
        for (int j = 0; j < D.length; j++) {
            int at = 2 * BLOCK * j;
            a.vmovdqu(T, mem(ROWS[0], at));
            a.vpunpckldq(T, T, mem(ROWS[1], at));
            a.vmovdqu(D[j], mem(ROWS[2], at));
            a.vpunpckldq(D[j], D[j], mem(ROWS[3], at));
            a.vpunpcklqdq(D[j], T, D[j]);
        }
        a.vshufi64x2(D[0], D[0], D[2], EVEN_LANES);
        a.vshufi64x2(D[1], D[1], D[3], EVEN_LANES);
        a.vpshufb(D[0], D[0], D_WORDS[0]);
        a.vpshufb(D[1], D[1], D_WORDS[1]);
        a.vpor(D[0], D[0], D[1]);
        a.vextracti64x4(T.y(), D[0], 1);
        a.vcvtph2ps(D[0], D[0].y());
        a.vcvtph2ps(D[1], T.y());
    }

    @Override
    public void results(Assembler a) {
        Vec sum = zmm(0);
        Vec t = zmm(1);
        a.vaddps(sum, SUMS[0], SUMS[1]);
        a.vextracti64x4(t.y(), sum, 1);
        for (Vec v : new Vec[] {sum, t}) {
            a.vextracti128(T.x(), v.y(), 1);
            a.vaddps(v.x(), v.x(), T.x());
        }
        a.vaddps(sum.x(), sum.x(), t.x());
    }
}
