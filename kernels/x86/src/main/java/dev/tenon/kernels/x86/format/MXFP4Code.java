package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;

/// MXFP4: 32 four-bit floats under a power of two.
///
/// ```
/// byte 0          1                         17
///      | e: uint8 | qs: uint8[16]           |          value[i]    = d * T[qs[i] & 15]      i in 0..15
///                                                      value[i+16] = d * T[qs[i] >> 4]      d = 2^(e - 128)
/// T = 0 1 2 3 4 6 8 12  0 -1 -2 -3 -4 -6 -8 -12
/// ```
///
/// Levels are `T + 12`. The exponent of `d` as a float is `e - 1`; where that is no normal float, `d` is 0.
public final class MXFP4Code extends BlockCode {
    private static final int BLOCK = 17;
    private static final int QS = 1;
    private static final int MOST = 12;
    /// The levels of the sixteen codes, four to a dword.
    private static final int[] LEVELS = {
        dword(0, 1, 2, 3), dword(4, 6, 8, 12), dword(0, -1, -2, -3), dword(-4, -6, -8, -12)
    };

    private static final Vec NIBBLE = constantZ(0);
    private static final Vec SHIFT = constantZ(1);
    private static final Vec TABLE = constantZ(2);

    public MXFP4Code() {
        super("MXFP4", 8 * BLOCK, BLOCK, 32, 2 * MOST, false, MOST);
    }

    private static int dword(int a, int b, int c, int d) {
        return a + MOST | b + MOST << 8 | c + MOST << 16 | d + MOST << 24;
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, i -> i & 4);
        loadZ(a, 2, i -> LEVELS[i & 3]);
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
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vmovdqu(levels.x(), mem(w, 2 * BLOCK * chunk + QS));
        a.vinserti128(levels.y(), levels.y(), mem(w, 2 * BLOCK * chunk + BLOCK + QS), 1);
        a.vshufi64x2(levels, levels, levels, 0x50);
        a.vpsrlvd(levels, levels, SHIFT);
        a.vpand(levels, levels, NIBBLE);
        a.vpshufb(levels, TABLE, levels);
    }

    @Override
    public void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        a.vbroadcasti128(levels.y(), mem(w, QS));
        a.vpsrlvd(levels.y(), levels.y(), SHIFT.y());
        a.vpand(levels.y(), levels.y(), NIBBLE.y());
        a.vpshufb(levels.y(), TABLE.y(), levels.y());
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec t = ymm(8);
        scales(a, w, t);
        a.vmovdqu(scales, t);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vbroadcasti128(levels, mem(w, BLOCK * unit + QS));
        a.vpsrlvd(levels, levels, a.constant(i -> i & 4));
        a.vpand(levels, levels, a.dwords(0x0F0F0F0F));
        a.vmovdqu(t, a.constant(i -> LEVELS[i & 3]));
        a.vpshufb(levels, t, levels);
    }

    @Override
    public void unitScale(Assembler a, Gpr w, Vec d) {
        a.zero(d);
        a.vpinsrw(d, d, mem(w), 0);
        exponents(a, d.x());
    }
}
