package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.mem;

import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// The x86-64 instructions that the kernels use, by their mnemonics; destination first: here those of general
/// registers, labels and constants; those of vectors are inherited.
final class Assembler extends VectorInstructions {
    /// Conditions of [#j].
    enum If {
        BELOW(2),
        ABOVE_OR_EQUAL(3),
        ZERO(4),
        NOT_ZERO(5),
        LESS(12),
        GREATER_OR_EQUAL(13),
        LESS_OR_EQUAL(14),
        GREATER(15);

        private final int code;

        If(int code) {
            this.code = code;
        }
    }

    private record Constant(String label, int[] dwords) {}

    private final List<Constant> constants = new ArrayList<>();
    private int names;

    /// Creates an empty assembler.
    ///
    /// @param evex whether vector instructions are encoded with EVEX (AVX-512) rather than VEX (AVX2)
    Assembler(boolean evex) {
        super(evex);
    }

    /// {@return a label name that was not given out before}
    ///
    /// @param hint start of the name
    String fresh(String hint) {
        return hint + "." + names++;
    }

    /// {@return memory that holds sixteen 32-bit numbers; equal ones share a place}
    ///
    /// @param dword number in each lane
    Mem constant(IntUnaryOperator dword) {
        int[] dwords = new int[16];
        Arrays.setAll(dwords, dword);
        for (Constant c : constants) {
            if (Arrays.equals(c.dwords, dwords)) {
                return Operand.at(c.label);
            }
        }
        Constant added = new Constant(fresh("constant"), dwords);
        constants.add(added);
        return Operand.at(added.label);
    }

    /// {@return the code followed by its constants, which are aligned to 64 bytes if the code is}
    byte[] assemble() {
        align(64);
        for (Constant c : constants) {
            label(c.label);
            for (int d : c.dwords) {
                i32(d);
            }
        }
        constants.clear();
        return finish();
    }

    /// Fills up with one-byte no-operations.
    ///
    /// @param bytes power of two
    void align(int bytes) {
        while (size() % bytes != 0) {
            u8(0x90);
        }
    }

    // --- general registers
    // ------------------------------------------------------------------------------------------
    void mov(Gpr d, Operand s) {
        gpr(0x8B, d, s);
    }

    void mov(Mem d, Gpr s) {
        gpr(0x89, s, d);
    }

    void mov32(Mem d, Gpr s) {
        legacy(false, 0, false, 0x89, s.ordinal(), d, 0, 0);
    }

    void mov32(Gpr d, Operand s) {
        legacy(false, 0, false, 0x8B, d.ordinal(), s, 0, 0);
    }

    void mov(Gpr d, int imm) {
        legacy(true, 0, false, 0xC7, 0, d, 4, imm);
    }

    void lea(Gpr d, Mem s) {
        gpr(0x8D, d, s);
    }

    void add(Gpr d, Operand s) {
        gpr(0x03, d, s);
    }

    void add(Gpr d, int imm) {
        immediate(0, d, imm);
    }

    /// `d = s * imm`.
    void imul(Gpr d, Operand s, int imm) {
        legacy(true, 0, false, 0x69, d.ordinal(), s, 4, imm);
    }

    void and(Gpr d, int imm) {
        immediate(4, d, imm);
    }

    void sub(Gpr d, Operand s) {
        gpr(0x2B, d, s);
    }

    void sub(Gpr d, int imm) {
        immediate(5, d, imm);
    }

    void cmp(Gpr a, Operand b) {
        gpr(0x3B, a, b);
    }

    void cmp(Gpr a, int imm) {
        immediate(7, a, imm);
    }

    void cmov(If condition, Gpr d, Operand s) {
        legacy(true, 0, true, 0x40 | condition.code, d.ordinal(), s, 0, 0);
    }

    void shl(Gpr d, int bits) {
        legacy(true, 0, false, 0xC1, 4, d, 1, bits);
    }

    void shr(Gpr d, int bits) {
        legacy(true, 0, false, 0xC1, 5, d, 1, bits);
    }

    void push(Gpr r) {
        if (r.ordinal() > 7) {
            u8(0x41);
        }
        u8(0x50 | r.ordinal() & 7);
    }

    void pop(Gpr r) {
        if (r.ordinal() > 7) {
            u8(0x41);
        }
        u8(0x58 | r.ordinal() & 7);
    }

    void ret() {
        u8(0xC3);
    }

    void jmp(String label) {
        u8(0xE9);
        relative(label);
    }

    void j(If condition, String label) {
        u8(0x0F);
        u8(0x80 | condition.code);
        relative(label);
    }

    void call(String label) {
        u8(0xE8);
        relative(label);
    }

    void cpuid() {
        u8(0x0F);
        u8(0xA2);
    }

    void xgetbv() {
        u8(0x0F);
        u8(0x01);
        u8(0xD0);
    }

    void prefetchT0(Mem m) {
        legacy(false, 0, true, 0x18, 1, m, 0, 0);
    }

    /// Fetches into the second-level cache.
    void prefetchT1(Mem m) {
        legacy(false, 0, true, 0x18, 2, m, 0, 0);
    }

    private void gpr(int opcode, Gpr reg, Operand rm) {
        legacy(true, 0, false, opcode, reg.ordinal(), rm, 0, 0);
    }

    private void immediate(int extension, Gpr d, int imm) {
        boolean isShort = imm == (byte) imm;
        legacy(true, 0, false, isShort ? 0x83 : 0x81, extension, d, isShort ? 1 : 4, imm);
    }

    /// {@return the n-th stack argument (0 is the seventh of the function)}
    ///
    /// @param n which one
    /// @param pushed registers pushed since entry
    static Mem stackArgument(int n, int pushed) {
        return mem(Gpr.RSP, 8 + 8 * pushed + 8 * n);
    }
}
