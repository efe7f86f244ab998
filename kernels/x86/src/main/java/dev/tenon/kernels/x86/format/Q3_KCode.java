package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.function.IntUnaryOperator;

/// Q3_K: 256 three-bit levels, sixteen groups of 16 with a 6-bit scale each.
///
/// ```
/// byte 0                  32              96                  108     110
///      | hmask: uint8[32] | qs: uint8[64] | scales: uint8[12] | d:f16 |
///
/// value[i] = d * (scale[i / 16] - 32) * (q[i] - 4);  for u in 0..7 and l in 0..31:
///   q[32u + l] = (qs[32(u / 4) + l] >> 2(u % 4) & 3) | (hmask[l] >> u & 1) << 2
/// scale[j], j in 0..15:
///   low 4 bits:  j < 8 ? scales[j] & 15 : scales[j - 8] >> 4
///   high 2 bits: scales[8 + j % 4] >> 2 * (j / 4) & 3
/// ```
///
/// Scales: the sixteen bytes that end with them are loaded, a permutation puts the dword with a
/// scale's low bits into its lane, a shift by lane brings them down; the high bits come from the
/// last dword.
public final class Q3_KCode extends BlockCode {
    private static final int QS = 32;
    private static final int SCALES = 96;
    private static final int D = 108;
    private static final Vec PAIR = constantZ(0);
    private static final Vec HIGH = constantZ(1);
    private static final Vec LOW_SCALES = constantZ(2);
    private static final IntUnaryOperator LOW_DWORD = j -> 1 + j % 8 / 4;
    private static final IntUnaryOperator LOW_SHIFT = j -> 8 * (j % 4) + j / 8 * 4;
    private static final IntUnaryOperator HIGH_SHIFT = j -> 8 * (j % 4) + 2 * (j / 4);

    public Q3_KCode() {
        super("Q3_K", 110, 0, 16, 7, false, 4, true);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x03030303);
        loadZ(a, 1, i -> 0x04040404);
        loadZ(a, 2, LOW_DWORD);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.vmovdqu(t.x(), mem(w, SCALES - 4));
        a.vpermd(scales, LOW_SCALES, t);
        a.vpsrlvd(scales, scales, a.constant(LOW_SHIFT));
        a.vpand(scales, scales, a.dwords(15));
        a.vpbroadcastd(u, mem(w, SCALES + 8));
        a.vprorvd(u, u, a.constant(j -> HIGH_SHIFT.applyAsInt(j) - 4 & 31));
        a.vpternlogd(scales, u, a.dwords(0x30), 0xF8);
        a.vpaddd(scales, scales, a.dwords(-32));
        a.vcvtdq2ps(scales, scales);
        f16ToAll(a, mem(w, D), t);
        a.vmulps(scales, scales, t);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vbroadcasti64x4(levels, mem(w, QS + 32 * (chunk >> 1)));
        a.vpsrlvd(levels, levels, a.constant(i -> 4 * (chunk & 1) + 2 * (i / 8)));
        a.vpand(levels, levels, PAIR);
        a.vbroadcasti64x4(t, mem(w));
        a.vprorvd(t, t, a.constant(i -> 2 * chunk + i / 8 - 2 & 31));
        a.vpternlogd(levels, t, HIGH, 0xF8);
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec head = ymm(8);
        Vec d = ymm(9);
        Vec low = ymm(10);
        Vec high = ymm(11);
        f16ToAll(a, mem(w, D), d);
        a.vmovdqu(head.x(), mem(w, SCALES - 4));
        for (int part = 0; part < 2; part++) {
            a.vmovdqu(low, a.constant(LOW_DWORD));
            a.vpermd(low, low, head);
            a.vpsrlvd(low, low, a.constant(LOW_SHIFT).plus(32 * part));
            a.vpand(low, low, a.dwords(15));
            a.vpbroadcastd(high, mem(w, SCALES + 8));
            a.vpsrlvd(high, high, a.constant(HIGH_SHIFT).plus(32 * part));
            a.vpand(high, high, a.dwords(3));
            a.vpslld(high, high, 4);
            a.vpor(low, low, high);
            a.vpaddd(low, low, a.dwords(-32));
            a.vcvtdq2ps(low, low);
            a.vmulps(low, low, d);
            a.vmovdqu(scales.plus(32 * part), low);
        }
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vmovdqu(levels, mem(w, QS + 32 * (unit >> 2)));
        moveBits(a, levels, 2 * (unit & 3), 0);
        a.vpand(levels, levels, a.dwords(0x03030303));
        a.vmovdqu(t, mem(w));
        moveBits(a, t, unit, 2);
        a.vpand(t, t, a.dwords(0x04040404));
        a.vpor(levels, levels, t);
    }
}
