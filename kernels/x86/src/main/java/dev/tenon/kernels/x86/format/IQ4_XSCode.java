package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntUnaryOperator;

/// IQ4_XS: 256 four-bit indices into the table of [IQ4_NLCode], eight groups of 32 with a 6-bit scale
/// each.
///
/// ```
/// byte 0       2                  4                   8                            136
///      | d:f16 | scales_h: uint16 | scales_l: uint8[4] | qs: uint8[128]            |
///
/// value[i] = d * (scale[i / 32] - 32) * T[q[i]];  for s in 0..7 and l in 0..15:
///   q[32s + l]      = qs[16s + l] & 15
///   q[32s + l + 16] = qs[16s + l] >> 4
///   scale[s] = (scales_l >> 4s & 15) | (scales_h >> 2s & 3) << 4
/// ```
///
/// Scales: both dwords of the head are in every lane; shifts by lane bring the bits of a scale into
/// their places, those of `scales_h` from the dword's upper part.
public final class IQ4_XSCode extends TableCode {
    private static final int SCALES = 4;
    private static final IntUnaryOperator LOW_SHIFT = i -> i % 8 * 4;
    private static final IntUnaryOperator HIGH_SHIFT = i -> 12 + i % 8 * 2;

    public IQ4_XSCode() {
        super("IQ4_XS", SPAN, 136, 8, IQ4_NLCode.ZERO + 113, IQ4_NLCode.ZERO, IQ4_NLCode.TABLE);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        emitScales(a, w, scales, t);
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        emitScales(a, w, ymm(8), ymm(9));
        a.vmovdqu(scales, ymm(8));
    }

    private static void emitScales(Assembler a, Gpr w, Vec scales, Vec t) {
        a.vpbroadcastd(scales, mem(w, SCALES));
        a.vpsrlvd(scales, scales, a.constant(LOW_SHIFT));
        a.vpand(scales, scales, a.dwords(15));
        a.vpbroadcastd(t, mem(w));
        a.vpsrlvd(t, t, a.constant(HIGH_SHIFT));
        a.vpand(t, t, a.dwords(0x30));
        a.vpor(scales, scales, t);
        a.vpaddd(scales, scales, a.dwords(-32));
        a.vcvtdq2ps(scales, scales);
        f16ToAll(a, mem(w), t);
        a.vmulps(scales, scales, t);
    }
}
