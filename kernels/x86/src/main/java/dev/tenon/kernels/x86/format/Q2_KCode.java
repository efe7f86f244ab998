package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;

/// Q2_K: 256 two-bit levels, sixteen groups of 16 with a 4-bit scale and a 4-bit minimum each.
///
/// ```
/// byte 0                   16              80      82         84
///      | scales: uint8[16] | qs: uint8[64] | d:f16 | dmin:f16 |     s = scales[i / 16]
///
/// value[i] = d * (s & 15) * q[i] - dmin * (s >> 4);  for u in 0..7 and l in 0..31:
///   q[32u + l] = qs[32(u / 4) + l] >> 2(u % 4) & 3
/// ```
public final class Q2_KCode extends BlockCode {
    private static final int QS = 16;
    private static final int D = 80;
    private static final int DMIN = 82;
    private static final Vec PAIR = constantZ(0);

    public Q2_KCode() {
        super("Q2_K", 84, 0, 16, 3, true, 1);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x03030303);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.vpmovzxbd(t, mem(w));
        a.vpand(scales, t, a.dwords(15));
        a.vcvtdq2ps(scales, scales);
        a.vpsrld(mins, t, 4);
        a.vcvtdq2ps(mins, mins);
        f16ToAll(a, mem(w, D), t);
        a.vmulps(scales, scales, t);
        f16ToAll(a, mem(w, DMIN), u);
        a.vmulps(mins, mins, u);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vbroadcasti64x4(levels, mem(w, QS + 32 * (chunk >> 1)));
        a.vpsrlvd(levels, levels, a.constant(i -> 4 * (chunk & 1) + 2 * (i / 8)));
        a.vpand(levels, levels, PAIR);
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec d = ymm(8);
        Vec dmin = ymm(9);
        Vec s = ymm(10);
        Vec m = ymm(11);
        f16ToAll(a, mem(w, D), d);
        f16ToAll(a, mem(w, DMIN), dmin);
        for (int part = 0; part < 2; part++) {
            a.vpmovzxbd(m, mem(w, 8 * part));
            a.vpand(s, m, a.dwords(15));
            a.vcvtdq2ps(s, s);
            a.vmulps(s, s, d);
            a.vmovdqu(scales.plus(32 * part), s);
            a.vpsrld(m, m, 4);
            a.vcvtdq2ps(m, m);
            a.vmulps(m, m, dmin);
            a.vmovdqu(mins.plus(32 * part), m);
        }
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vmovdqu(levels, mem(w, QS + 32 * (unit >> 2)));
        moveBits(a, levels, 2 * (unit & 3), 0);
        a.vpand(levels, levels, a.dwords(0x03030303));
    }
}
