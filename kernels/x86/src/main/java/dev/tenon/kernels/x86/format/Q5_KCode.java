package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Q5_K: 256 five-bit levels, eight groups of 32 with a 6-bit scale and a 6-bit minimum each.
///
/// ```
/// byte 0       2          4                   16              48                           176
///      | d:f16 | dmin:f16 | scales: uint8[12] | qh: uint8[32] | qs: uint8[128]             |
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for u in 0..7 and l in 0..31:
///   q[32u + l] = (qs[32(u / 2) + l] >> 4(u % 2) & 15) | (qh[l] >> u & 1) << 4
/// ```
///
/// The head is decoded by [NibbleCode]. The high bits of 64 weights are rotated to bit 4 by lane.
public final class Q5_KCode extends NibbleCode {
    private static final int QH = 16;
    private static final int QS = 48;
    private static final Vec HIGH = constantZ(2);

    public Q5_KCode() {
        super("Q5_K", 176, 31, QS, 3);
    }

    @Override
    void moreConstants512(Assembler a) {
        loadZ(a, 2, i -> 0x10101010);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        super.levels512(a, w, chunk, levels, t);
        a.vbroadcasti64x4(t, mem(w, QH));
        a.vprorvd(t, t, a.constant(i -> 2 * chunk + i / 8 - 4 & 31));
        a.vpternlogd(levels, t, HIGH, 0xF8);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        super.levels256(a, w, unit, levels, t);
        a.vmovdqu(t, mem(w, QH));
        moveBits(a, t, unit, 4);
        a.vpand(t, t, a.dwords(0x10101010));
        a.vpor(levels, levels, t);
    }
}
