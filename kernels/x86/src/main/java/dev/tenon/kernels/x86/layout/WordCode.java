package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import dev.tenon.kernels.x86.block.MicroKernels;
import java.util.Optional;

/// The block code of a format of 32 signed bytes under one scale, made from its layout.
///
/// Its weights are so exact that activations rounded to bytes would cost more accuracy than they
/// do: levels are widened to words (`vpmovsxbw`) and meet activations of 16 bits.
public final class WordCode extends BlockCode {
    /// Bytes that are transposed at a time.
    private static final int PIECE = 16;
    /// Spread the bytes of the lower, or upper, part of each dword to the upper bytes of two words.
    private static final Vec LOWER = constantZ(0);
    private static final Vec UPPER = constantZ(1);

    private final BlockScales scales;
    private final int levels;

    private WordCode(String id, BlockLayout layout, int levels, BlockScales scales, MicroKernels byHand) {
        super(id, layout.bytes(), byHand);
        this.levels = levels;
        this.scales = scales;
    }

    /// {@return the code for a layout; empty if it is none of those that can be made}
    static Optional<BlockCode> of(String id, BlockLayout layout, MicroKernels byHand) {
        boolean bytes = layout.size() == UNIT
                && layout.levels().type() == Numbers.Type.SIGNED
                && layout.levels().width() == Byte.SIZE
                && layout.zero() == 0
                && layout.minimums().isEmpty();
        int first = layout.levels().pieces(0).getFirst().bit();
        for (int i = 0; bytes && i < UNIT; i++) {
            bytes = layout.levels().pieces(i).getFirst().bit() == first + Byte.SIZE * i;
        }
        BlockScales scales = bytes && first % Byte.SIZE == 0 ? BlockScales.of(layout) : null;
        return Optional.ofNullable(scales == null ? null : new WordCode(id, layout, first / Byte.SIZE, scales, byHand));
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> spread(i, 0));
        loadZ(a, 1, i -> spread(i, 2));
    }

    private static int spread(int lane, int from) {
        int at = lane % 4 * Integer.BYTES + from;
        return 0x80 | at << 8 | 0x80 << 16 | at + 1 << 24;
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        this.scales.emitScales(a, w, scales);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, blockBytes * chunk + this.levels));
    }

    @Override
    public void unit512(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        levels512(a, w, 0, levels, t);
    }

    @Override
    public void unitScale(Assembler a, Gpr w, Vec d) {
        scales.emitUnitScale(a, w, d);
    }

    /// Two neighbouring bytes, from an even one on, are two levels.
    @Override
    public boolean hasColumns() {
        return levels % Short.BYTES == 0 && blockBytes % Short.BYTES == 0 && spanBytes % PIECE == 0;
    }

    @Override
    public boolean columnsHaveScales() {
        return scales.isHalf() && scales.at() % Short.BYTES == 0;
    }

    @Override
    public void columns(Assembler a, Columns span) {
        Operand lower = a.evex ? LOWER : a.constant(i -> spread(i, 0));
        Operand upper = a.evex ? UPPER : a.constant(i -> spread(i, 2));
        Vec t = span.vec(8);
        Vec d = span.vec(9);
        for (int piece = 0; piece < spanBytes; piece += PIECE) {
            span.load(piece);
            for (int at = 0; at < PIECE; at += Short.BYTES) {
                Vec column = span.vec(at / Integer.BYTES);
                boolean high = at % Integer.BYTES != 0;
                int block = (piece + at) / blockBytes;
                int inBlock = (piece + at) % blockBytes;
                if (inBlock >= levels && inBlock < levels + UNIT) {
                    a.vpshufb(t, column, high ? upper : lower);
                    a.vpsraw(t, t, 8);
                    span.levels(UNIT * block + inBlock - levels, t);
                } else if (columnsHaveScales() && inBlock == scales.at()) {
                    if (a.evex) {
                        span.f16(column, high, d);
                    } else {
                        span.f16(blockBytes * block + inBlock, d, t);
                    }
                    span.scale(block, d);
                }
            }
        }
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec t = ymm(8);
        this.scales.emitScales(a, w, t);
        a.vmovdqu(scales, t);
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        a.vpmovsxbw(levels, mem(w, blockBytes * (unit / 2) + this.levels + 16 * (unit & 1)));
    }
}
