package dev.tenon.kernels.x86.format;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Vec;
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
/// The head is decoded by [NibbleCode].
public final class Q4_KCode extends NibbleCode {
    static final int QS = 16;

    public Q4_KCode() {
        super("Q4_K", 144, 15, QS, 2);
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
}
