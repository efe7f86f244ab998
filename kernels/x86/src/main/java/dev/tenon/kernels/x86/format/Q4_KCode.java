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

/// Q4_K: 256 four-bit levels, eight groups of 32 with a 6-bit scale and a 6-bit minimum each.
///
/// ```
/// byte 0       2          4                   16                           144
///      | d:f16 | dmin:f16 | scales: uint8[12] | qs: uint8[128]             |
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..63:
///   q[64j + l] = qs[32j + l % 32] >> 4(l / 32) & 15
/// ```
///
/// The head is decoded by [ScaleMins].
public final class Q4_KCode extends BlockCode {
    private static final int QS = 16;
    private static final Vec NIBBLE = constantZ(0);
    private static final Vec SHIFT = constantZ(1);
    private static final int HEAD = 2;

    public Q4_KCode() {
        super("Q4_K", 144, 0, 32, 15, true, 1);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, i -> i < 8 ? 0 : 4);
        ScaleMins.constants512(a, HEAD);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        ScaleMins.scales512(a, w, scales, t, u, HEAD);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vbroadcasti64x4(levels, mem(w, QS + 32 * chunk));
        a.vpsrlvd(levels, levels, SHIFT);
        a.vpand(levels, levels, NIBBLE);
    }

    @Override
    public StreamMicroKernel streams512() {
        return new Q4_KStreams();
    }

    @Override
    public PairMicroKernel pairs512() {
        return new Q4_KPairs();
    }

    @Override
    public boolean hasColumns() {
        return true;
    }

    @Override
    public void columns(Assembler a, Columns span) {
        Operand nibble = span.constant(NIBBLE, 0x0F0F0F0F);
        Vec t = span.vec(8);
        for (int j = 0; j < 8; j++) {
            span.load(QS + 16 * j);
            int weight = 64 * (j / 2) + 16 * (j & 1);
            for (int i = 0; i < 4; i++) {
                a.vpand(t, span.vec(i), nibble);
                span.levels(weight + 4 * i, t);
                a.vpsrld(t, span.vec(i), 4);
                a.vpand(t, t, nibble);
                span.levels(weight + 32 + 4 * i, t);
            }
        }
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        ScaleMins.scales256(a, w, scales, mins);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vmovdqu(levels, mem(w, QS + 32 * (unit >> 1)));
        moveBits(a, levels, 4 * (unit & 1), 0);
        a.vpand(levels, levels, a.constant(i -> 0x0F0F0F0F));
    }
}
