package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntFunction;

/// The loop over rows, each of which is multiplied with one to four tokens.
///
/// Arguments: weights, packed, out, byte offset of the first row, bytes of a row, rows; on the
/// stack bytes between packed rows, byte offset of the scales in them, bytes between tokens in out,
/// length of a row, byte offset of the first token's row in packed.
///
/// Registers: RDI row, RSI packed, RDX out, R8 bytes of a row, R9 rows left, R12 and R14 one and
/// three packed rows.
public abstract class RowLoop {
    /// Most tokens of one pass.
    public static final int MAX_TOKENS = 4;

    final Assembler a;
    final int tokens;
    private final Gpr[] saved;

    /// Creates the generator of a loop.
    ///
    /// @param saved registers that the caller gets back as they were
    RowLoop(Assembler a, int tokens, Gpr... saved) {
        this.a = a;
        this.tokens = tokens;
        this.saved = saved;
    }

    /// {@return the n-th argument on the stack}
    Mem argument(int n) {
        return Assembler.stackArgument(n, saved.length);
    }

    /// {@return where token t is, given the pointer to token 0}
    final Mem token(Gpr base, int t, int disp) {
        return switch (t) {
            case 0 -> mem(base, disp);
            case 1 -> mem(base, R12, 1, disp);
            case 2 -> mem(base, R12, 2, disp);
            default -> mem(base, R14, 1, disp);
        };
    }

    /// Emits the function.
    final void emit() {
        String row = a.fresh("row");
        String end = a.fresh("rowsEnd");
        a.push(saved);
        emitFrame();
        a.add(RDI, RCX);
        a.add(RSI, argument(4));
        a.mov(R12, argument(0));
        a.lea(R14, mem(R12, R12, 2, 0));
        emitStart();
        a.label(row);
        a.cmp(R9, 0);
        a.j(If.LESS_OR_EQUAL, end);
        emitRow();
        a.add(RDX, Float.BYTES);
        a.add(RDI, R8);
        a.sub(R9, 1);
        a.jmp(row);
        a.label(end);
        a.vzeroupper();
        emitFrameEnd();
        a.pop(saved);
        a.ret();
    }

    /// Keeps the stack pointer, where memory of the stack is used.
    void emitFrame() {}

    /// Restores the stack pointer.
    void emitFrameEnd() {}

    /// Loads the arguments and constants that the rows need.
    abstract void emitStart();

    /// Multiplies a row with all tokens.
    abstract void emitRow();

    /// Stores the results of a row, with RBX.
    ///
    /// @param result makes code for a result and returns the register that has it in lane 0
    final void emitResults(int count, IntFunction<Vec> result) {
        a.mov(RBX, RDX);
        for (int i = 0; i < count; i++) {
            a.vmovss(mem(RBX), result.apply(i));
            if (i + 1 < count) {
                a.add(RBX, argument(2));
            }
        }
    }
}
