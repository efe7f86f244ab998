package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.mem;

import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;

/// Q8_0: 32 signed bytes under one scale, handled as two groups of 16 with the same one: its weights are so
/// exact that activations rounded under a scale per 32 would cost as much accuracy as they do.
///
/// ```
/// byte 0       2                         34
///      | d:f16 | qs: int8[32]            |          value[i] = d * qs[i]
/// ```
///
/// `vpdpbusd` wants the weights unsigned: a level is `qs[i] ^ 0x80` = qs[i] + 128, and zero is 128.
/// Without VNNI, AVX2's products of bytes would overflow 16 bits then; there the levels stay signed and
/// [RowsCode256]
/// multiplies |level| with the activation that has the level's sign.
final class Q8_0Code extends BlockCode {
    private static final int BLOCK = 34;
    private static final int QS = 2;
    private static final Vec FLIP = constantZ(0);
    private static final Vec TWICE = constantZ(1);

    /// Creates the generator.
    ///
    /// @param vnni whether 256-bit code may use `vpdpbusd`
    Q8_0Code(boolean vnni) {
        super("Q8_0", 8 * BLOCK, BLOCK, 16, false, 128, vnni ? 128 : 0);
    }

    @Override
    void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x80808080);
        loadZ(a, 1, i -> i / 2);
    }

    @Override
    void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.zero(t);
        for (int k = 0; k < 8; k++) {
            a.vpinsrw(t, t, mem(w, BLOCK * k), k);
        }
        a.vcvtph2ps(t.y(), t.x());
        a.vpermps(scales, TWICE, t);
    }

    @Override
    void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vmovdqu(levels.y(), mem(w, 2 * BLOCK * chunk + QS));
        a.vinserti64x4(levels, levels, mem(w, 2 * BLOCK * chunk + BLOCK + QS), 1);
        a.vpxor(levels, levels, FLIP);
    }

    @Override
    void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        a.vmovdqu(levels.y(), mem(w, QS));
        a.vpxor(levels.y(), levels.y(), FLIP.y());
    }

    @Override
    void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        unitScales256(a, w, BLOCK, scales);
    }

    @Override
    void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vmovdqu(levels, mem(w, BLOCK * unit + QS));
        if (zero256 != 0) {
            a.vpxor(levels, levels, a.constant(i -> 0x80808080));
        }
    }
}
