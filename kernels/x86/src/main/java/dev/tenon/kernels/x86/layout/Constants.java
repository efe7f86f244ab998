package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.block.BlockCode.constantZ;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// The constants of a layout's code: with AVX-512 those that are used most are in registers, the others in memory.
final class Constants {
    private static final int LANES = 16;

    private static final class Constant {
        final int[] dwords;
        int uses;
        /// Number of its register, or -1.
        int register = -1;

        Constant(int[] dwords) {
            this.dwords = dwords;
        }
    }

    /// Without VBMI and with it: other instructions need other constants.
    private final List<List<Constant>> all = List.of(new ArrayList<>(), new ArrayList<>());

    private boolean counting = true;

    /// Ends the count of uses.
    ///
    /// @param registers how many registers there are
    void choose(int registers) {
        counting = false;
        for (List<Constant> each : all) {
            List<Constant> byUse = new ArrayList<>(each);
            byUse.sort(Comparator.comparingInt(c -> -c.uses));
            for (int i = 0; i < Math.min(registers, byUse.size()); i++) {
                byUse.get(i).register = i;
            }
        }
    }

    /// Loads the registers.
    void load(Assembler a) {
        for (Constant constant : of(a)) {
            if (constant.register >= 0) {
                BlockCode.loadZ(a, constant.register, i -> constant.dwords[i]);
            }
        }
    }

    private List<Constant> of(Assembler a) {
        return all.get(a.vbmi ? 1 : 0);
    }

    /// {@return a constant: a register or memory}
    ///
    /// @param width a register as wide as the constant is wanted
    /// @param dword number in each lane
    Operand of(Assembler a, Vec width, IntUnaryOperator dword) {
        int[] dwords = new int[LANES];
        Arrays.setAll(dwords, dword);
        int lanes = width.bits() / Integer.SIZE;
        for (Constant constant : of(a)) {
            if (Arrays.equals(constant.dwords, 0, lanes, dwords, 0, lanes)) {
                constant.uses++;
                if (!a.evex || constant.register < 0) {
                    return a.constant(i -> constant.dwords[i]);
                }
                return new Vec(constantZ(constant.register).number(), width.bits());
            }
        }
        if (counting && a.evex) {
            Constant added = new Constant(dwords);
            added.uses = 1;
            of(a).add(added);
        }
        return a.constant(dword);
    }

    /// {@return a constant that is the same in every lane}
    Operand of(Assembler a, Vec width, int dword) {
        return of(a, width, _ -> dword);
    }
}
