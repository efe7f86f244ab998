package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// MXFP4: 32 four-bit floats under a power of two.
///
/// ```
/// byte 0          1                         17
///      | e: uint8 | qs: uint8[16]           |          value[i]    = d * T[qs[i] & 15]      i in 0..15
///                                                      value[i+16] = d * T[qs[i] >> 4]      d = 2^(e - 128)
/// T = 0 1 2 3 4 6 8 12  0 -1 -2 -3 -4 -6 -8 -12
/// ```
///
/// The exponent of `d` as a float is `e - 1`; where that is no normal float, `d` is 0.
public final class MXFP4Code extends TableCode {
    private static final int BLOCK = 17;

    public MXFP4Code() {
        super("MXFP4", UNIT, BLOCK, 1, 24, 12, 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    }

    /// Computes the scales of a span in 256 bits.
    private static void scales(Assembler a, Gpr w, Vec t) {
        a.zero(t);
        for (int k = 0; k < 8; k++) {
            a.vpinsrw(t, t, mem(w, BLOCK * k), k);
        }
        a.vpmovzxwd(t.y(), t.x());
        exponents(a, t.y());
    }

    /// Makes floats of dwords whose lowest byte is `e`.
    private static void exponents(Assembler a, Vec t) {
        a.vpand(t, t, a.dwords(0xFF));
        a.vpmaxud(t, t, a.dwords(1));
        a.vpaddd(t, t, a.dwords(-1));
        a.vpslld(t, t, 23);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        scales(a, w, t);
        a.vinserti64x4(scales, t, t.y(), 1);
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec t = ymm(8);
        scales(a, w, t);
        a.vmovdqu(scales, t);
    }

    @Override
    public void unitScale(Assembler a, Gpr w, Vec d) {
        a.zero(d);
        a.vpinsrw(d, d, mem(w), 0);
        exponents(a, d.x());
    }
}
