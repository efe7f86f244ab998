package dev.tenon.kernels.x86.asm;

import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Turns operands into the bytes of x86-64 instructions: REX, VEX and EVEX prefixes, ModRM, SIB,
/// displacements and label references.
///
/// The mnemonics are in [Assembler]. Bit layouts: Intel 64 and IA-32 Architectures Software
/// Developer's Manual, volume 2, sections 2.1-2.3 and 2.7. Not safe for use by several threads.
class Encoder {
    /// Opcode map of a vector instruction, in bits 8 and 9 of its opcode: 0F, 0F 38, 0F 3A.
    static final int M0F = 1 << 8;
    static final int M38 = 2 << 8;
    static final int M3A = 3 << 8;
    /// Implied prefix, in bits 10 and 11: 66, F3, F2.
    static final int P66 = 1 << 10;
    static final int PF3 = 2 << 10;
    static final int PF2 = 3 << 10;
    /// The W bit, in bit 12.
    static final int W1 = 1 << 12;
    /// How an EVEX displacement byte is scaled: by the whole vector, by parts of it, or by fixed
    /// bytes.
    static final int FULL = 0;
    static final int HALF = -2;
    static final int QUARTER = -4;

    /// Added to the number of a write mask: lanes that are not written become 0.
    static final int ZEROING = 0x80;

    /// Whether vector instructions are encoded with EVEX (AVX-512) rather than VEX (AVX2).
    public final boolean evex;

    private byte[] code = new byte[4096];
    private int size;
    private final Map<String, Integer> labels = new HashMap<>();
    private final List<Reference> references = new ArrayList<>();
    private int pending = -1;

    private record Reference(int at, int end, String label) {}

    Encoder(boolean evex) {
        this.evex = evex;
    }

    /// {@return bytes emitted so far}
    public final int size() {
        return size;
    }

    /// Marks the current place.
    ///
    /// @param label unique name
    public final void label(String label) {
        if (labels.put(label, size) != null) {
            throw new IllegalStateException("Label " + label + " is placed twice.");
        }
    }

    /// {@return where a label is, in bytes from the start of the code}
    ///
    /// @param label name
    final int offsetOf(String label) {
        Integer at = labels.get(label);
        if (at == null) {
            throw new IllegalStateException("Label " + label + " is nowhere placed.");
        }
        return at;
    }

    /// {@return the finished code with all references filled in}
    final byte[] finish() {
        for (Reference r : references) {
            int distance = offsetOf(r.label) - r.end;
            for (int i = 0; i < 4; i++) {
                code[r.at + i] = (byte) (distance >> 8 * i);
            }
        }
        return Arrays.copyOf(code, size);
    }

    final void u8(int value) {
        if (size == code.length) {
            code = Arrays.copyOf(code, 2 * size);
        }
        code[size++] = (byte) value;
    }

    final void i32(int value) {
        for (int i = 0; i < 32; i += 8) {
            u8(value >> i);
        }
    }

    /// Emits the distance from the end of the instruction to a label; the instruction ends here.
    final void relative(String label) {
        i32(0);
        references.add(new Reference(size - 4, size, label));
    }

    // --- general registers: [REX] opcode ModRM
    // ----------------------------------------------------------------------
    /// Emits an instruction on general registers.
    ///
    /// @param wide whether operands have 64 bits
    /// @param escape whether the opcode is in map 0F
    /// @param opcode opcode
    /// @param reg ModRM.reg: register number or opcode extension
    /// @param rm [Gpr] or [Mem]
    /// @param immediateBytes bytes of the immediate: 0, 1 or 4
    /// @param immediate its value
    final void legacy(
            boolean wide, boolean escape, int opcode, int reg, Operand rm, int immediateBytes, int immediate) {
        int rex = 0x40 | (wide ? 8 : 0) | reg >> 3 << 2 | x(rm) << 1 | b(rm);
        if (rex != 0x40) {
            u8(rex);
        }
        if (escape) {
            u8(0x0F);
        }
        u8(opcode);
        modRm(reg, rm, 1);
        for (int i = 0; i < immediateBytes; i++) {
            u8(immediate >> 8 * i);
        }
        endOfInstruction();
    }

    // --- vectors: VEX or EVEX
    // ---------------------------------------------------------------------------------------
    /// Emits a vector instruction in the encoder's own form.
    ///
    /// @param opcode opcode, with its map, prefix and W bit
    /// @param tuple scale of an EVEX displacement: [#FULL], [#HALF], [#QUARTER] or a number of
    /// bytes
    /// @param bits vector width
    /// @param reg ModRM.reg
    /// @param v register in VEX.vvvv; 0 when there is none
    /// @param rm [Vec], [Gpr] or [Mem]
    /// @param imm immediate byte, or -1 for none
    final void vector(int opcode, int tuple, int bits, int reg, int v, Operand rm, int imm) {
        if (evex) {
            evex(opcode, tuple, bits, reg, v, rm, imm, 0);
        } else {
            vex(opcode, bits, reg, v, rm, imm);
        }
    }

    /// Emits an instruction in VEX form; parameters as in [#vector].
    final void vex(int opcode, int bits, int reg, int v, Operand rm, int imm) {
        if (bits == 512 || (reg | v) > 15 || rm instanceof Vec r && r.number() > 15) {
            throw new IllegalArgumentException("VEX has no 512-bit vectors and no registers above 15.");
        }
        if (rm instanceof Mem m && m.broadcast()) {
            throw new IllegalArgumentException("VEX has no broadcast memory operands.");
        }
        int w = opcode >> 12 & 1;
        int tail = (~v & 15) << 3 | (bits == 256 ? 4 : 0) | opcode >> 10 & 3;
        if ((opcode & M3A) == M0F && w == 0 && x(rm) == 0 && b(rm) == 0) {
            u8(0xC5);
            u8((~reg >> 3 & 1) << 7 | tail);
        } else {
            u8(0xC4);
            u8((~reg >> 3 & 1) << 7 | (~x(rm) & 1) << 6 | (~b(rm) & 1) << 5 | opcode >> 8 & 3);
            u8(w << 7 | tail);
        }
        finishVector(opcode, reg, rm, imm, 1);
    }

    /// Emits an instruction in EVEX form; parameters as in [#vector].
    ///
    /// @param mask write mask register 1..7 with merging, or with [#ZEROING]; 0 for none
    final void evex(int opcode, int tuple, int bits, int reg, int v, Operand rm, int imm, int mask) {
        boolean broadcast = rm instanceof Mem m && m.broadcast();
        int x = rm instanceof Vec r ? r.number() >> 4 : x(rm);
        u8(0x62);
        u8((~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~b(rm) & 1) << 5 | (~reg >> 4 & 1) << 4 | opcode >> 8 & 3);
        u8((opcode >> 12 & 1) << 7 | (~v & 15) << 3 | 4 | opcode >> 10 & 3);
        u8(Integer.numberOfTrailingZeros(bits / 128) << 5 | (broadcast ? 0x10 : 0) | (~v >> 4 & 1) << 3 | mask);
        int bytes = bits / 8;
        int scale = broadcast ? 4 : tuple == FULL ? bytes : tuple < 0 ? bytes / -tuple : tuple;
        finishVector(opcode, reg, rm, imm, scale);
    }

    private void finishVector(int opcode, int reg, Operand rm, int imm, int dispScale) {
        u8(opcode);
        modRm(reg & 15, rm, dispScale);
        if (imm >= 0) {
            u8(imm);
        }
        endOfInstruction();
    }

    private static int number(Operand o) {
        return switch (o) {
            case Gpr g -> g.ordinal();
            case Vec v -> v.number();
            case Mem m -> throw new IllegalArgumentException("A register is needed, not memory.");
        };
    }

    /// {@return the bit that widens the index register's number}
    private static int x(Operand rm) {
        return rm instanceof Mem m && m.index() != null ? number(m.index()) >> 3 & 1 : 0;
    }

    /// {@return the bit that widens the number of the base or of a register in ModRM.rm}
    private static int b(Operand rm) {
        if (rm instanceof Mem m) {
            return m.base() == null ? 0 : m.base().ordinal() >> 3;
        }
        return number(rm) >> 3 & 1;
    }

    private void modRm(int reg, Operand rm, int dispScale) {
        int r = (reg & 7) << 3;
        if (!(rm instanceof Mem m)) {
            u8(0xC0 | r | number(rm) & 7);
            return;
        }
        if (m.label() != null) {
            u8(r | 5);
            i32(m.disp());
            pending = size - 4;
            references.add(new Reference(size - 4, Integer.MIN_VALUE, m.label()));
            return;
        }
        int base = m.base().ordinal() & 7;
        boolean sib = m.index() != null || base == 4;
        int shortDisp = m.disp() / dispScale;
        boolean isShort = m.disp() % dispScale == 0 && shortDisp == (byte) shortDisp;
        int mod = m.disp() == 0 && base != 5 ? 0 : isShort ? 1 : 2;
        u8(mod << 6 | r | (sib ? 4 : base));
        if (sib) {
            int index = m.index() == null ? 4 : number(m.index()) & 7;
            u8(Integer.numberOfTrailingZeros(m.scale()) << 6 | index << 3 | base);
        }
        if (mod == 1) {
            u8(shortDisp);
        } else if (mod == 2) {
            i32(m.disp());
        }
    }

    /// A label operand counts from the end of its instruction, which may have an immediate byte.
    private void endOfInstruction() {
        if (pending >= 0) {
            int last = references.size() - 1;
            int disp = code[pending] & 0xFF
                    | (code[pending + 1] & 0xFF) << 8
                    | (code[pending + 2] & 0xFF) << 16
                    | code[pending + 3] << 24;
            references.set(
                    last,
                    new Reference(pending, size - disp, references.get(last).label()));
            pending = -1;
        }
    }
}
