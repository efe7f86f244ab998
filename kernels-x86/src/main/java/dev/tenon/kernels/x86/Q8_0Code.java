package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.mem;

import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;

/// Q8_0: 32 signed bytes under one scale.
///
/// ```
/// byte 0       2                         34
///      | d:f16 | qs: int8[32]            |          value[i] = d * qs[i]
/// ```
///
/// Its weights are so exact that activations rounded to bytes would cost more accuracy than they do: levels
/// are widened to words (`vpmovsxbw`) and meet activations of 16 bits.
final class Q8_0Code extends BlockCode {
    private static final int BLOCK = 34;
    private static final int QS = 2;

    Q8_0Code() {
        super("Q8_0", BLOCK);
    }

    @Override
    void constants512(Assembler a) {
        // none are needed
    }

    @Override
    void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.zero(t);
        for (int k = 0; k < SPAN / UNIT; k++) {
            a.vpinsrw(t, t, mem(w, BLOCK * k), k);
        }
        a.vcvtph2ps(scales.y(), t.x());
    }

    @Override
    void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, BLOCK * chunk + QS));
    }

    @Override
    PairCode512 pairs512() {
        return new Q8_0Pairs();
    }

    @Override
    void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        levels512(a, w, 0, levels, t);
    }

    @Override
    StreamCode512 streams512() {
        return new Q8_0Streams();
    }

    @Override
    void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        unitScales256(a, w, BLOCK, scales);
    }

    @Override
    void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, BLOCK * (unit / 2) + QS + 16 * (unit & 1)));
    }
}
