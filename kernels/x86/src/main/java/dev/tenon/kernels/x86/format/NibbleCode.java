package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.function.IntUnaryOperator;

/// What Q4_K and Q5_K share: 256 levels whose low four bits lie alike, and a head of 16 bytes, which
/// is two F16 factors, then eight 6-bit scales and minimums.
///
/// ```
/// byte 0       2          4                   16
///      | d:f16 | dmin:f16 | s: uint8[12]      |
///
/// j in 0..3:  scale[j] = s[j] & 63        scale[j+4] = (s[j+8] & 15) | s[j]   >> 6 << 4
///             min[j]   = s[j+4] & 63      min[j+4]   = (s[j+8] >> 4) | s[j+4] >> 6 << 4
/// ```
///
/// Each of the sixteen numbers is two pieces of the head's four dwords. A permutation puts the
/// dword of a piece into the number's lane, a shift by lane brings the piece into place, a mask
/// cuts it out. Lanes 0-7 are scales, 8-15 minimums.
abstract class NibbleCode extends BlockCode {
    static final Vec NIBBLE = constantZ(0);
    private static final Vec SHIFT = constantZ(1);

    /// Dword of the first piece: s[0..3], s[4..7] or s[8..11].
    private static final IntUnaryOperator LOW_DWORD = i -> (i & 4) != 0 ? 3 : i < 8 ? 1 : 2;
    /// Its shift.
    private static final IntUnaryOperator LOW_SHIFT = i -> 8 * (i & 3) + (i >= 12 ? 4 : 0);
    /// Its mask.
    private static final IntUnaryOperator LOW_MASK = i -> (i & 4) != 0 ? 15 : 63;
    /// Dword of the second piece.
    private static final IntUnaryOperator HIGH_DWORD = i -> i < 8 ? 1 : 2;
    /// Its shift, which leaves bits 6-7 of a byte at 4-5.
    private static final IntUnaryOperator HIGH_SHIFT = i -> 8 * (i & 3) + 2;
    /// Its mask.
    private static final IntUnaryOperator HIGH_MASK = i -> (i & 4) != 0 ? 48 : 0;
    /// Dword of the factor after conversion: d or dmin.
    private static final IntUnaryOperator FACTOR = i -> i < 8 ? 0 : 1;

    /// Where the low bits of levels begin in a block.
    private final int qs;
    /// The first of three constants for the head, after those of the levels.
    private final int first;

    NibbleCode(String id, int spanBytes, int most, int qs, int levelConstants) {
        super(id, spanBytes, 0, 32, most, true, 1);
        this.qs = qs;
        this.first = levelConstants;
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, i -> i < 8 ? 0 : 4);
        moreConstants512(a);
        loadZ(a, first, LOW_DWORD);
        loadZ(a, first + 1, HIGH_DWORD);
        loadZ(a, first + 2, FACTOR);
    }

    /// Loads constants of the other bits of levels, from number 2 on.
    void moreConstants512(Assembler a) {}

    /// Computes `d * scale` to lanes 0-7 and `dmin * min` to lanes 8-15.
    @Override
    public final void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.vmovdqu(t.x(), mem(w));
        a.vpermd(scales, constantZ(first), t);
        a.vpermd(u, constantZ(first + 1), t);
        a.vpsrlvd(scales, scales, a.constant(LOW_SHIFT));
        a.vpsrlvd(u, u, a.constant(HIGH_SHIFT));
        a.vpand(scales, scales, a.constant(LOW_MASK));
        a.vpternlogd(scales, u, a.constant(HIGH_MASK), 0xF8);
        a.vcvtdq2ps(scales, scales);
        a.vcvtph2ps(t.x(), t.x());
        a.vpermps(t, constantZ(first + 2), t);
        a.vmulps(scales, scales, t);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vbroadcasti64x4(levels, mem(w, qs + 32 * chunk));
        a.vpsrlvd(levels, levels, SHIFT);
        a.vpand(levels, levels, NIBBLE);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vmovdqu(levels, mem(w, qs + 32 * (unit >> 1)));
        moveBits(a, levels, 4 * (unit & 1), 0);
        a.vpand(levels, levels, a.dwords(0x0F0F0F0F));
    }

    /// Stores eight times `d * scale` and eight times `dmin * min`.
    @Override
    public final void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec head = ymm(8);
        Vec factors = ymm(9);
        Vec low = ymm(10);
        Vec high = ymm(11);
        Vec t = ymm(12);
        a.vmovdqu(head.x(), mem(w));
        a.vcvtph2ps(factors.x(), head.x());
        for (int part = 0; part < 2; part++) {
            int lane = 8 * part;
            a.vmovdqu(low, a.constant(LOW_DWORD).plus(4 * lane));
            a.vpermd(low, low, head);
            a.vpsrlvd(low, low, a.constant(LOW_SHIFT).plus(4 * lane));
            a.vpand(low, low, a.constant(LOW_MASK).plus(4 * lane));
            a.vmovdqu(high, a.constant(HIGH_DWORD).plus(4 * lane));
            a.vpermd(high, high, head);
            a.vpsrlvd(high, high, a.constant(HIGH_SHIFT).plus(4 * lane));
            a.vpand(high, high, a.constant(HIGH_MASK).plus(4 * lane));
            a.vpor(low, low, high);
            a.vcvtdq2ps(low, low);
            a.vmovdqu(t, a.constant(FACTOR).plus(4 * lane));
            a.vpermps(t, t, factors);
            a.vmulps(low, low, t);
            a.vmovdqu(part == 0 ? scales : mins, low);
        }
    }
}
