package dev.tenon.kernels.x86.attention;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Makes the keys of a page, and some of its values, float32 in scratch memory.
///
/// ```
///   F16   keys, values: 32 elements a turn, two conversions (AVX2: four)
///   Q8_0  keys:   [32 elements, 64 positions] under 64 scales, which stay in registers: level · scale[p]
///         values: a position's 32 elements under one scale in all lanes:               level · scale
/// ```
///
/// Registers: as [AttentionCode] says; the first position of the values in R10, the one after the
/// last in R11 (both clobbered); R14 and R15 are free here.
final class AttentionPages {
    private static final int TOKENS = AttentionCode.TOKENS;
    private static final int BLOCK = AttentionShape.MULTIPLE;

    private final Assembler a;
    private final AttentionShape shape;
    private final int bits;
    private final int lanes;

    private AttentionPages(Assembler a, AttentionShape shape) {
        this.a = a;
        this.shape = shape;
        this.bits = a.evex ? 512 : 256;
        this.lanes = bits / Float.SIZE;
    }

    private Vec vec(int number) {
        return new Vec(number, bits);
    }

    /// {@return the lower part of a vector}
    private Vec lowerPart(int number) {
        return new Vec(number, bits / 2);
    }

    /// Emits the code.
    ///
    /// @param shape F16 or Q8_0, and lengths
    static void emit(Assembler a, AttentionShape shape) {
        new AttentionPages(a, shape).emit();
    }

    private void emit() {
        int valueRow = shape.valueLength() * Float.BYTES;
        a.imul(R14, R11, valueRow);
        a.lea(R14, mem(R14, RDX, 1, shape.valuesAt()));
        a.imul(RAX, R10, valueRow);
        a.lea(RAX, mem(RAX, RDX, 1, shape.valuesAt()));
        if (shape.type() == AttentionShape.Type.F16) {
            a.imul(RBX, R10, shape.valueLength() * Short.BYTES);
            a.add(RBX, RSI);
            emitF16();
            a.lea(RAX, mem(RDX, AttentionCode.KEYS));
            a.lea(R14, mem(RDX, shape.valuesAt()));
            a.mov(RBX, RDI);
            emitF16();
        } else {
            emitValueLevels();
            emitKeyLevels();
        }
    }

    // RBX from, RAX to, R14 its end; 32 elements a turn.
    private void emitF16() {
        String loop = a.fresh("f16");
        a.align(32);
        a.label(loop);
        for (int v = 0; v < BLOCK / lanes; v++) {
            a.vcvtph2ps(vec(v), mem(RBX, v * lanes * Short.BYTES));
            a.vmovdqu(mem(RAX, v * lanes * Float.BYTES), vec(v));
        }
        a.add(RBX, 64);
        a.add(RAX, 128);
        a.cmp(RAX, R14);
        a.j(If.BELOW, loop);
    }

    // RBX levels, R15 scales, RAX to, R14 its end; a block of 32 elements a turn.
    private void emitValueLevels() {
        String loop = a.fresh("valueLevels");
        a.imul(RBX, R10, shape.valueLength());
        a.add(RBX, RSI);
        a.imul(R15, R10, shape.valueLength() / BLOCK * Short.BYTES);
        a.lea(R15, mem(R15, RSI, 1, shape.valueLength() * TOKENS));
        a.label(loop);
        a.vpbroadcastw(lowerPart(4), mem(R15));
        a.vcvtph2ps(vec(4), lowerPart(4));
        for (int v = 0; v < BLOCK / lanes; v++) {
            emitLevels(vec(v), mem(RBX, v * lanes), vec(4), mem(RAX, v * lanes * Float.BYTES));
        }
        a.add(RBX, BLOCK);
        a.add(R15, Short.BYTES);
        a.add(RAX, BLOCK * Float.BYTES);
        a.cmp(RAX, R14);
        a.j(If.BELOW, loop);
    }

    // RBX levels, R15 scales, RAX to, R14 end of the block, R11 end of all; 64 positions a turn.
    private void emitKeyLevels() {
        String block = a.fresh("keyBlock");
        String loop = a.fresh("keyLevels");
        int row = TOKENS * Float.BYTES;
        int vectors = TOKENS / lanes;
        a.mov(RBX, RDI);
        a.lea(R15, mem(RDI, shape.keyLength() * TOKENS));
        a.lea(RAX, mem(RDX, AttentionCode.KEYS));
        a.lea(R11, mem(RDX, shape.valuesAt()));
        a.label(block);
        for (int v = 0; v < vectors; v++) {
            a.vcvtph2ps(vec(vectors + v), mem(R15, v * lanes * Short.BYTES));
        }
        a.lea(R14, mem(RAX, BLOCK * row));
        a.label(loop);
        for (int v = 0; v < vectors; v++) {
            emitLevels(vec(v), mem(RBX, v * lanes), vec(vectors + v), mem(RAX, v * lanes * Float.BYTES));
        }
        a.add(RBX, TOKENS);
        a.add(RAX, row);
        a.cmp(RAX, R14);
        a.j(If.BELOW, loop);
        a.add(R15, TOKENS * Short.BYTES);
        a.cmp(RAX, R11);
        a.j(If.BELOW, block);
    }

    private void emitLevels(Vec t, Mem levels, Vec scale, Mem to) {
        a.vpmovsxbd(t, levels);
        a.vcvtdq2ps(t, t);
        a.vmulps(t, t, scale);
        a.vmovdqu(to, t);
    }
}
