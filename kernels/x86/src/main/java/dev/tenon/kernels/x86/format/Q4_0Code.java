package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;

/// Q4_0: 32 four-bit levels under one scale.
///
/// ```
/// byte 0       2                         18
///      | d:f16 | qs: uint8[16]           |          value[i]    = d * ((qs[i] & 15) - 8)     i in 0..15
///                                                   value[i+16] = d * ((qs[i] >> 4) - 8)
/// ```
///
/// The 16 bytes are repeated in two 128-bit lanes; the second is shifted right by 4.
public final class Q4_0Code extends BlockCode {
    private static final int BLOCK = 18;
    private static final int QS = 2;
    private static final Vec NIBBLE = constantZ(0);
    private static final Vec SHIFT = constantZ(1);

    public Q4_0Code() {
        super("Q4_0", 8 * BLOCK, BLOCK, 32, 15, false, 8);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, i -> i & 4);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.zero(t);
        for (int k = 0; k < 8; k++) {
            a.vpinsrw(t, t, mem(w, BLOCK * k), k);
        }
        a.vcvtph2ps(t.y(), t.x());
        a.vinserti64x4(scales, t, t.y(), 1);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vmovdqu(levels.x(), mem(w, 2 * BLOCK * chunk + QS));
        a.vinserti128(levels.y(), levels.y(), mem(w, 2 * BLOCK * chunk + BLOCK + QS), 1);
        a.vshufi64x2(levels, levels, levels, 0x50);
        a.vpsrlvd(levels, levels, SHIFT);
        a.vpand(levels, levels, NIBBLE);
    }

    @Override
    public void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        a.vbroadcasti128(levels.y(), mem(w, QS));
        a.vpsrlvd(levels.y(), levels.y(), SHIFT.y());
        a.vpand(levels.y(), levels.y(), NIBBLE.y());
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        unitScales256(a, w, BLOCK, scales);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vbroadcasti128(levels, mem(w, BLOCK * unit + QS));
        a.vpsrlvd(levels, levels, a.constant(i -> i & 4));
        a.vpand(levels, levels, a.dwords(0x0F0F0F0F));
    }
}
