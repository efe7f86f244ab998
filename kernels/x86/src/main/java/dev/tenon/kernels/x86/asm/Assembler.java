package dev.tenon.kernels.x86.asm;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// The x86-64 instructions that the kernels use, by their mnemonics; destination first: here those
/// of general registers, labels and constants; those of vectors are inherited.
public final class Assembler extends MaskInstructions {
    /// Conditions of [#j].
    public enum If {
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

    /// Whether instructions of AVX-512 VBMI and VPOPCNTDQ may be used.
    public final boolean vbmi;

    private final List<Constant> constants = new ArrayList<>();
    private int names;

    /// Creates an empty assembler.
    ///
    /// @param evex whether vector instructions are encoded with EVEX (AVX-512) rather than VEX
    /// (AVX2)
    public Assembler(boolean evex) {
        this(evex, false);
    }

    /// Creates an empty assembler.
    ///
    /// @param evex whether vector instructions are encoded with EVEX (AVX-512) rather than VEX
    /// (AVX2)
    /// @param vbmi whether those of AVX-512 VBMI and VPOPCNTDQ may be used
    public Assembler(boolean evex, boolean vbmi) {
        super(evex);
        this.vbmi = vbmi;
    }

    /// {@return a label name that was not given out before}
    ///
    /// @param hint start of the name
    public String fresh(String hint) {
        return hint + "." + names++;
    }

    /// {@return memory that holds sixteen 32-bit numbers; equal ones share a place}
    ///
    /// @param dword number in each lane
    public Mem constant(IntUnaryOperator dword) {
        int[] dwords = new int[16];
        Arrays.setAll(dwords, dword);
        return table(dwords);
    }

    /// {@return memory that holds some 32-bit numbers; equal tables share a place}
    ///
    /// @param dwords the numbers, a multiple of sixteen
    public Mem table(int[] dwords) {
        for (Constant c : constants) {
            if (Arrays.equals(c.dwords, dwords)) {
                return Operand.at(c.label);
            }
        }
        Constant added = new Constant(fresh("constant"), dwords.clone());
        constants.add(added);
        return Operand.at(added.label);
    }

    /// {@return memory that holds a float32 in sixteen lanes}
    ///
    /// @param value the float
    public Mem constant(float value) {
        return dwords(Float.floatToRawIntBits(value));
    }

    /// {@return memory that holds a 32-bit number in sixteen lanes}
    ///
    /// @param dword the number
    public Mem dwords(int dword) {
        return constant(_ -> dword);
    }

    /// {@return the code followed by its constants, which are aligned to 64 bytes if the code is}
    public byte[] assemble() {
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
    public void align(int bytes) {
        while (size() % bytes != 0) {
            u8(0x90);
        }
    }

    // --- general registers
    // ------------------------------------------------------------------------------------------
    public void mov(Gpr d, Operand s) {
        gpr(0x8B, d, s);
    }

    public void mov(Mem d, Gpr s) {
        gpr(0x89, s, d);
    }

    public void mov32(Mem d, Gpr s) {
        legacy(false, false, 0x89, s.ordinal(), d, 0, 0);
    }

    public void mov32(Gpr d, Operand s) {
        legacy(false, false, 0x8B, d.ordinal(), s, 0, 0);
    }

    public void mov(Gpr d, int imm) {
        legacy(true, false, 0xC7, 0, d, 4, imm);
    }

    public void lea(Gpr d, Mem s) {
        gpr(0x8D, d, s);
    }

    public void add(Gpr d, Operand s) {
        gpr(0x03, d, s);
    }

    public void add(Gpr d, int imm) {
        immediate(0, d, imm);
    }

    /// `d = s * imm`.
    public void imul(Gpr d, Operand s, int imm) {
        legacy(true, false, 0x69, d.ordinal(), s, 4, imm);
    }

    public void and(Gpr d, int imm) {
        immediate(4, d, imm);
    }

    public void sub(Gpr d, Operand s) {
        gpr(0x2B, d, s);
    }

    public void sub(Gpr d, int imm) {
        immediate(5, d, imm);
    }

    public void cmp(Gpr a, Operand b) {
        gpr(0x3B, a, b);
    }

    public void cmp(Gpr a, int imm) {
        immediate(7, a, imm);
    }

    public void cmov(If condition, Gpr d, Operand s) {
        legacy(true, true, 0x40 | condition.code, d.ordinal(), s, 0, 0);
    }

    public void shl(Gpr d, int bits) {
        legacy(true, false, 0xC1, 4, d, 1, bits);
    }

    public void shr(Gpr d, int bits) {
        legacy(true, false, 0xC1, 5, d, 1, bits);
    }

    /// Pushes registers, the first one first.
    public void push(Gpr... registers) {
        for (Gpr r : registers) {
            stack(0x50, r);
        }
    }

    /// Pops what [#push] pushed: the last register first.
    public void pop(Gpr... registers) {
        for (int i = registers.length - 1; i >= 0; i--) {
            stack(0x58, registers[i]);
        }
    }

    private void stack(int opcode, Gpr r) {
        if (r.ordinal() > 7) {
            u8(0x41);
        }
        u8(opcode | r.ordinal() & 7);
    }

    public void ret() {
        u8(0xC3);
    }

    public void jmp(String label) {
        u8(0xE9);
        relative(label);
    }

    public void j(If condition, String label) {
        u8(0x0F);
        u8(0x80 | condition.code);
        relative(label);
    }

    /// Counts a register down, and jumps unless it is 0 then.
    public void loop(Gpr counter, String label) {
        sub(counter, 1);
        j(If.NOT_ZERO, label);
    }

    /// Ends a function.
    ///
    /// @param saved registers that it pushed
    public void end(Gpr... saved) {
        vzeroupper();
        pop(saved);
        ret();
    }

    public void call(String label) {
        u8(0xE8);
        relative(label);
    }

    public void cpuid() {
        u8(0x0F);
        u8(0xA2);
    }

    public void xgetbv() {
        u8(0x0F);
        u8(0x01);
        u8(0xD0);
    }

    public void prefetchT0(Mem m) {
        legacy(false, true, 0x18, 1, m, 0, 0);
    }

    /// Fetches into the second-level cache.
    public void prefetchT1(Mem m) {
        legacy(false, true, 0x18, 2, m, 0, 0);
    }

    private void gpr(int opcode, Gpr reg, Operand rm) {
        legacy(true, false, opcode, reg.ordinal(), rm, 0, 0);
    }

    private void immediate(int extension, Gpr d, int imm) {
        boolean isShort = imm == (byte) imm;
        legacy(true, false, isShort ? 0x83 : 0x81, extension, d, isShort ? 1 : 4, imm);
    }

    /// {@return the n-th stack argument (0 is the seventh of the function)}
    ///
    /// @param n which one
    /// @param pushed registers pushed since entry
    public static Mem stackArgument(int n, int pushed) {
        return mem(Gpr.RSP, 8 + 8 * pushed + 8 * n);
    }
}
