package dev.tenon.kernels.x86.layout;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Code that puts levels together, a register of bytes at a time.
interface Levels {
    /// Puts levels together.
    ///
    /// @param w points to the span
    /// @param first the first level
    /// @param count how many: bytes of `levels`, 64 or 32
    /// @param levels receives them
    /// @param t temporary
    void emit(Assembler a, Gpr w, int first, int count, Vec levels, Vec t);
}
