package dev.tenon.kernels.x86.asm;

/// What an instruction can name: a general register, a vector register, or memory.
public sealed interface Operand permits Operand.Gpr, Operand.Vec, Operand.Mem {

    /// The sixteen 64-bit general registers, in the order of their numbers.
    enum Gpr implements Operand {
        RAX,
        RCX,
        RDX,
        RBX,
        RSP,
        RBP,
        RSI,
        RDI,
        R8,
        R9,
        R10,
        R11,
        R12,
        R13,
        R14,
        R15
    }

    /// A vector register seen with a width.
    ///
    /// @param number 0..31 with AVX-512, 0..15 without
    /// @param bits 128, 256 or 512
    record Vec(int number, int bits) implements Operand {
        public Vec {
            if (number < 0 || number > 31 || bits != 128 && bits != 256 && bits != 512) {
                throw new IllegalArgumentException("There is no vector register " + number + " of " + bits + " bits.");
            }
        }

        /// {@return the low 128 bits of the same register}
        public Vec x() {
            return new Vec(number, 128);
        }

        /// {@return the low 256 bits of the same register}
        public Vec y() {
            return new Vec(number, 256);
        }
    }

    /// Memory at `base + index * scale + disp`, or at a label of the code itself.
    ///
    /// @param base base register; null for a label
    /// @param index index register: a general one (not RSP), a vector of indices, or null
    /// @param scale 1, 2, 4 or 8
    /// @param disp displacement in bytes
    /// @param label label in the code; null for registers
    /// @param broadcast whether one 32-bit element is repeated in every lane (AVX-512 only)
    record Mem(Gpr base, Operand index, int scale, int disp, String label, boolean broadcast) implements Operand {
        public Mem {
            if ((base == null) == (label == null)
                    || index == Gpr.RSP
                    || Integer.bitCount(scale) != 1
                    || scale > 8
                    || scale < 1) {
                throw new IllegalArgumentException("This memory operand cannot be encoded: base " + base + ", index "
                        + index + ", scale " + scale + ", label " + label + ".");
            }
        }

        /// {@return the same operand with a further displacement}
        ///
        /// @param bytes added to the displacement
        public Mem plus(int bytes) {
            return new Mem(base, index, scale, disp + bytes, label, broadcast);
        }

        /// {@return the same operand, its 32-bit element repeated in every lane}
        public Mem bcst() {
            return new Mem(base, index, scale, disp, label, true);
        }
    }

    /// {@return memory at a register}
    ///
    /// @param base register
    static Mem mem(Gpr base) {
        return mem(base, 0);
    }

    /// {@return memory at a register plus a displacement}
    ///
    /// @param base register
    /// @param disp bytes
    static Mem mem(Gpr base, int disp) {
        return new Mem(base, null, 1, disp, null, false);
    }

    /// {@return memory at base plus scaled index plus a displacement}
    ///
    /// @param base register
    /// @param index register, or a vector of as many indices as are gathered
    /// @param scale 1, 2, 4 or 8
    /// @param disp bytes
    static Mem mem(Gpr base, Operand index, int scale, int disp) {
        return new Mem(base, index, scale, disp, null, false);
    }

    /// {@return memory at a label of the code}
    ///
    /// @param label label
    static Mem at(String label) {
        return new Mem(null, null, 1, 0, label, false);
    }

    /// {@return a 128-bit register}
    ///
    /// @param number register number
    static Vec xmm(int number) {
        return new Vec(number, 128);
    }

    /// {@return a 256-bit register}
    ///
    /// @param number register number
    static Vec ymm(int number) {
        return new Vec(number, 256);
    }

    /// {@return a 512-bit register}
    ///
    /// @param number register number
    static Vec zmm(int number) {
        return new Vec(number, 512);
    }

    /// {@return neighbouring 512-bit registers}
    ///
    /// @param first number of the first one
    /// @param count how many there are
    static Vec[] zmms(int first, int count) {
        Vec[] registers = new Vec[count];
        for (int i = 0; i < count; i++) {
            registers[i] = zmm(first + i);
        }
        return registers;
    }
}
