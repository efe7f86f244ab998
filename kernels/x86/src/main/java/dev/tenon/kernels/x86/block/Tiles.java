package dev.tenon.kernels.x86.block;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;

/// Code that walks over the tiles of a row, [PanelShape#TILE] spans each.
public final class Tiles {
    private Tiles() {}

    /// Takes the spans of the next tile, the last one perhaps partial, from those that are left.
    public static void take(Assembler a, Gpr spans, Gpr left) {
        a.mov(spans, PanelShape.TILE);
        a.cmp(spans, left);
        a.cmov(If.GREATER, spans, left);
        a.sub(left, spans);
    }

    /// Takes the spans of the next tile, or all of them in formats whose tiles have no scales, from
    /// those that are left.
    public static void begin(Assembler a, BlockCode format, Gpr spans, Gpr left) {
        if (format.tiled) {
            take(a, spans, left);
        } else {
            a.mov(spans, left);
        }
    }
}
