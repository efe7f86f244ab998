package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Q8_0: 32 signed bytes under one scale.
///
/// ```
/// byte 0       2                         34
///      | d:f16 | qs: int8[32]            |          value[i] = d * qs[i]
/// ```
///
/// Its weights are so exact that activations rounded to bytes would cost more accuracy than they
/// do: levels are widened to words (`vpmovsxbw`) and meet activations of 16 bits.
public final class Q8_0Code extends BlockCode {
    static final int BLOCK = 34;
    static final int QS = 2;
    /// Bytes that are transposed at a time: seventeen times as many are a span.
    private static final int PIECE = 16;
    /// Spread the bytes of the lower, or upper, part of each dword to the upper bytes of two words.
    private static final Vec LOWER = constantZ(0);
    private static final Vec UPPER = constantZ(1);

    public Q8_0Code() {
        super("Q8_0", BLOCK);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> spread(i, 0));
        loadZ(a, 1, i -> spread(i, 2));
    }

    private static int spread(int lane, int from) {
        int at = lane % 4 * Integer.BYTES + from;
        return 0x80 | at << 8 | 0x80 << 16 | at + 1 << 24;
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        a.zero(t);
        for (int k = 0; k < SPAN / UNIT; k++) {
            a.vpinsrw(t, t, mem(w, BLOCK * k), k);
        }
        a.vcvtph2ps(scales.y(), t.x());
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, BLOCK * chunk + QS));
    }

    @Override
    public PairMicroKernel pairs512() {
        return new Q8_0Pairs();
    }

    @Override
    public void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        levels512(a, w, 0, levels, t);
    }

    @Override
    public StreamMicroKernel streams512() {
        return new Q8_0Streams();
    }

    @Override
    public boolean hasColumns() {
        return true;
    }

    /// Two neighbouring bytes of a span, from an even one on, are a scale or two levels.
    @Override
    public void columns(Assembler a, Columns span) {
        Operand lower = a.evex ? LOWER : a.constant(i -> spread(i, 0));
        Operand upper = a.evex ? UPPER : a.constant(i -> spread(i, 2));
        Vec t = span.vec(8);
        Vec d = span.vec(9);
        for (int piece = 0; piece < spanBytes; piece += PIECE) {
            span.load(piece);
            for (int at = 0; at < PIECE; at += 2) {
                Vec column = span.vec(at / Integer.BYTES);
                boolean high = at % Integer.BYTES != 0;
                int block = (piece + at) / BLOCK;
                int inBlock = (piece + at) % BLOCK;
                if (inBlock >= QS) {
                    a.vpshufb(t, column, high ? upper : lower);
                    a.vpsraw(t, t, 8);
                    span.levels(UNIT * block + inBlock - QS, t);
                } else {
                    if (a.evex) {
                        span.f16(column, high, d);
                    } else {
                        span.f16(BLOCK * block, d, t);
                    }
                    span.scale(block, d);
                }
            }
        }
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        unitScales256(a, w, BLOCK, scales);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, BLOCK * (unit / 2) + QS + 16 * (unit & 1)));
    }
}
