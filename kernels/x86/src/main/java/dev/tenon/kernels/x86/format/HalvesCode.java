package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.function.IntUnaryOperator;

/// What formats share that keep the four low bits of 32 weights in 16 bytes: the first 16 weights in
/// the lower part of each byte, the others in the upper one.
///
/// ```
/// low[i] = qs[i] & 15          low[i + 16] = qs[i] >> 4          i in 0..15
/// ```
///
/// The 16 bytes are repeated in two 128-bit lanes; the second is shifted right by 4. A block of 32
/// begins with an F16 scale and, where groups have minimums, an F16 offset, which is the negative
/// minimum.
abstract class HalvesCode extends BlockCode {
    /// The first constant register that subclasses may fill.
    static final int MORE = 2;

    private static final Vec NIBBLE = constantZ(0);
    private static final Vec SHIFT = constantZ(1);
    private static final IntUnaryOperator UPPER = i -> i & 4;
    /// For each 128 bits: the lower words of four dwords, then the upper ones.
    private static final int[] WORDS = {0x05040100, 0x0D0C0908, 0x07060302, 0x0F0E0B0A};
    /// The first and the second 64 bits of two 128-bit lanes.
    private static final int[] QUARTERS = {0, 1, 4, 5, 2, 3, 6, 7};

    /// Bytes from the low bits of a group to those of the next one.
    private final int stride;
    /// Where the low bits of the first group are.
    private final int qs;

    /// Creates the generator of a format.
    ///
    /// @param size weights of a block: a group, or a span whose low bits lie together
    /// @param block bytes of a block
    /// @param qs where the low bits are in it
    HalvesCode(String id, int size, int block, int qs, int most, boolean mins, float zero) {
        super(id, SPAN / size * block, size == UNIT ? block : 0, UNIT, most, mins, zero);
        this.stride = size == UNIT ? block : UNIT / 2;
        this.qs = qs;
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, UPPER);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        if (this.mins) {
            emitScalesAndOffsets(a, w, t, u);
            a.vpxor(t.y(), t.y(), a.constant(i -> i < 4 ? 0 : 0x80008000));
            a.vcvtph2ps(scales, t.y());
            return;
        }
        a.zero(t);
        for (int k = 0; k < SPAN / UNIT; k++) {
            a.vpinsrw(t, t, mem(w, unitBytes * k), k);
        }
        a.vcvtph2ps(t.y(), t.x());
        a.vinserti64x4(scales, t, t.y(), 1);
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        if (!this.mins) {
            unitScales256(a, w, unitBytes, scales);
            return;
        }
        Vec t = ymm(8);
        Vec u = ymm(9);
        emitScalesAndOffsets(a, w, t, u);
        a.vpxor(t, t, a.constant(i -> i < 4 ? 0 : 0x80008000));
        a.vcvtph2ps(u, t.x());
        a.vmovdqu(scales, u);
        a.vextracti128(t.x(), t, 1);
        a.vcvtph2ps(u, t.x());
        a.vmovdqu(mins, u);
    }

    /// Loads eight F16 scales and the eight offsets after each of them to the two 128-bit lanes.
    private void emitScalesAndOffsets(Assembler a, Gpr w, Vec t, Vec u) {
        a.vmovss(t, mem(w));
        a.vmovss(u, mem(w, 4 * unitBytes));
        for (int k = 1; k < 4; k++) {
            a.vpinsrd(t, t, mem(w, unitBytes * k), k);
            a.vpinsrd(u, u, mem(w, unitBytes * (k + 4)), k);
        }
        a.vinserti128(t.y(), t.y(), u.x(), 1);
        a.vpshufb(t.y(), t.y(), a.constant(i -> WORDS[i & 3]));
        a.vmovdqu(u.y(), a.constant(i -> QUARTERS[i & 7]));
        a.vpermd(t.y(), u.y(), t.y());
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vmovdqu(levels.x(), mem(w, 2 * stride * chunk + qs));
        a.vinserti128(levels.y(), levels.y(), mem(w, 2 * stride * chunk + stride + qs), 1);
        a.vshufi64x2(levels, levels, levels, 0x50);
        a.vpsrlvd(levels, levels, SHIFT);
        a.vpand(levels, levels, NIBBLE);
    }

    @Override
    public void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        a.vbroadcasti128(levels.y(), mem(w, qs));
        a.vpsrlvd(levels.y(), levels.y(), SHIFT.y());
        a.vpand(levels.y(), levels.y(), NIBBLE.y());
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vbroadcasti128(levels, mem(w, stride * unit + qs));
        a.vpsrlvd(levels, levels, a.constant(UPPER));
        a.vpand(levels, levels, a.dwords(0x0F0F0F0F));
    }
}
