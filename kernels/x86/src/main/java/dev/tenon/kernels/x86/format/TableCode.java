package dev.tenon.kernels.x86.format;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// What formats share whose four-bit codes stand for values of a table, which a register holds as
/// levels: values plus `zero`.
abstract class TableCode extends HalvesCode {
    private static final Vec TABLE = constantZ(MORE);

    /// The levels of the sixteen codes, four to a dword.
    private final int[] table = new int[4];

    /// Creates the generator of a format.
    ///
    /// @param most greatest level
    /// @param zero the level of the value 0
    /// @param values the table, in the order of codes
    TableCode(String id, int size, int block, int qs, int most, int zero, int... values) {
        super(id, size, block, qs, most, false, zero);
        for (int i = 0; i < values.length; i++) {
            table[i / 4] |= values[i] + zero << 8 * (i % 4);
        }
    }

    @Override
    public void constants512(Assembler a) {
        super.constants512(a);
        loadZ(a, MORE, i -> table[i & 3]);
    }

    @Override
    public final void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        super.levels512(a, w, chunk, levels, t);
        a.vpshufb(levels, TABLE, levels);
    }

    @Override
    public final void unit512(Assembler a, Gpr w, Vec levels, Vec t) {
        super.unit512(a, w, levels, t);
        a.vpshufb(levels.y(), TABLE.y(), levels.y());
    }

    @Override
    public final void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        super.levels256(a, w, unit, levels, t);
        a.vmovdqu(t, a.constant(i -> table[i & 3]));
        a.vpshufb(levels, t, levels);
    }
}
