package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntUnaryOperator;

/// What Q5_0 and Q5_1 share: blocks of 32 levels whose fifth bits are a dword.
///
/// The dword is in every lane; a permutation puts the byte that has a weight's bit into the weight's
/// byte, a mask leaves the bit, and a minimum with 1 brings it down.
abstract class FifthBitCode extends HalvesCode {
    private static final Vec BYTES = constantZ(MORE);
    private static final Vec BITS = constantZ(MORE + 1);
    private static final Vec ONES = constantZ(MORE + 2);
    /// Which byte of the dword has the bits of four weights.
    private static final IntUnaryOperator BYTE = i -> i % 8 / 2 * 0x01010101;
    /// Which bits of it they are.
    private static final IntUnaryOperator BIT = i -> i % 2 == 0 ? 0x08040201 : 0x80402010;
    private static final int ONE = 0x01010101;

    /// Where the dword is in a block.
    private final int qh;

    FifthBitCode(String id, int block, int qh, boolean mins, float zero) {
        super(id, UNIT, block, qh + Integer.BYTES, 31, mins, zero);
        this.qh = qh;
    }

    @Override
    public final void constants512(Assembler a) {
        super.constants512(a);
        loadZ(a, MORE, BYTE);
        loadZ(a, MORE + 1, BIT);
        loadZ(a, MORE + 2, i -> ONE);
    }

    @Override
    public final void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vpbroadcastd(levels.y(), mem(w, unitBytes * (2 * chunk + 1) + qh));
        a.vpbroadcastd(t.y(), mem(w, unitBytes * 2 * chunk + qh));
        a.vinserti64x4(t, t, levels.y(), 1);
        a.vpshufb(t, t, BYTES);
        a.vpand(t, t, BITS);
        a.vpminub(t, t, ONES);
        a.vpslld(t, t, 4);
        super.levels512(a, w, chunk, levels, t);
        a.vpor(levels, levels, t);
    }

    @Override
    public final void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        emitFifthBits(a, w, 0, t.y());
        super.unit512(a, w, levels, t);
        a.vpor(levels.y(), levels.y(), t.y());
    }

    @Override
    public final void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        emitFifthBits(a, w, unit, t);
        super.levels256(a, w, unit, levels, t);
        a.vpor(levels, levels, t);
    }

    private void emitFifthBits(Assembler a, Gpr w, int unit, Vec t) {
        a.vpbroadcastd(t, mem(w, unitBytes * unit + qh));
        a.vpshufb(t, t, a.constant(BYTE));
        a.vpand(t, t, a.constant(BIT));
        a.vpminub(t, t, a.dwords(ONE));
        a.vpslld(t, t, 4);
    }
}
