package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.ymm;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import dev.tenon.kernels.x86.block.MicroKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The block code of a format, made from its layout.
///
/// It takes blocks of 32 to 256 values, whose levels have up to seven bits or are put through a code book of up to
/// sixteen numbers, or of entries of four or eight with signs and shifts ([GridCode]), or are digits of base 3
/// ([TritCode]), under scales of groups of 16 or of 32 and more, with or without minimums.
public final class LayoutCode extends BlockCode {
    /// Registers for constants, beside what the loops use themselves.
    private static final int REGISTERS = 11;
    private static final int REGISTERS_OF_TILES = 3;
    private static final int SMALL_GROUP = 16;

    private final Levels levels;
    private final ColumnCode columns;
    private final Constants constants;
    /// Exactly one of the next two is not null.
    private final BlockScales blockScales;
    private final NumberScales numberScales;
    /// Minimums of groups of 16; null without.
    private final NumberScales numberMinimums;

    /// What the parts of a layout's code are, before it is known whether there is one.
    private record Parts(
            Levels levels,
            GridCode.Numbering numbering,
            ColumnCode columns,
            Constants constants,
            BlockScales blockScales,
            NumberScales numberScales,
            NumberScales numberMinimums) {}

    private LayoutCode(String id, BlockLayout layout, int group, Parts parts, MicroKernels byHand) {
        super(
                id,
                SPAN / layout.size() * layout.bytes(),
                layout.size() < SPAN && parts.blockScales != null ? layout.bytes() : 0,
                layout.size() / UNIT,
                group,
                parts.numbering.most(),
                layout.minimums().isPresent(),
                layout.minimums().isPresent() ? 1 : parts.numbering.zero(),
                group == SMALL_GROUP && layout.minimums().isEmpty(),
                byHand);
        this.levels = parts.levels;
        this.columns = parts.columns;
        this.constants = parts.constants;
        this.blockScales = parts.blockScales;
        this.numberScales = parts.numberScales;
        this.numberMinimums = parts.numberMinimums;
        count(new Assembler(true, false));
        count(new Assembler(true, true));
        constants.choose(tiled ? REGISTERS_OF_TILES : REGISTERS);
    }

    /// {@return the code for a layout; empty if it is none of those that can be made}
    ///
    /// @param id the format as ggml spells it
    /// @param layout how its blocks are laid out
    /// @param byHand what is written by hand for it
    public static Optional<BlockCode> of(String id, BlockLayout layout, MicroKernels byHand) {
        int group = layout.group() == SMALL_GROUP ? SMALL_GROUP : UNIT;
        boolean shape = layout.levels().type().whole()
                && layout.size() >= UNIT
                && SPAN % layout.size() == 0
                && layout.group() % group == 0;
        if (!shape) {
            return Optional.empty();
        }
        Constants constants = new Constants();
        GridCode.Numbering grid = GridCode.numbering(layout);
        if (grid != null) {
            Levels levels = layout.minimums().isEmpty() ? GridCode.of(layout, grid, constants) : null;
            return code(id, layout, group, parts(layout, group, levels, grid, null, constants), byHand);
        }
        int zero = zero(layout);
        TritCode trits = TritCode.of(layout, constants);
        if (trits != null && zero >= 0 && zero <= 2 && layout.minimums().isEmpty()) {
            GridCode.Numbering digits = new GridCode.Numbering(0, zero, 2);
            return code(id, layout, group, parts(layout, group, trits, digits, null, constants), byHand);
        }
        boolean range =
                most(layout) < 1 << Byte.SIZE && zero >= 0 && (layout.minimums().isEmpty() || zero == 0);
        boolean unsigned = layout.levels().type() == Numbers.Type.UNSIGNED;
        if (!range || !unsigned || layout.signs().isPresent() || layout.shifts().isPresent()) {
            return unsigned ? Optional.empty() : WordCode.of(id, layout, byHand);
        }
        LevelCode levels = LevelCode.of(layout, zero, constants);
        ColumnCode columns = levels == null
                ? null
                : ColumnCode.of(levels.planes(), SPAN / layout.size() * layout.bytes(), levels.table());
        GridCode.Numbering numbering = new GridCode.Numbering(0, zero, most(layout));
        return code(id, layout, group, parts(layout, group, levels, numbering, columns, constants), byHand);
    }

    private static Optional<BlockCode> code(
            String id, BlockLayout layout, int group, Parts parts, MicroKernels byHand) {
        return Optional.ofNullable(parts == null ? null : new LayoutCode(id, layout, group, parts, byHand));
    }

    /// {@return the parts; null if scales are none that can be computed, or there are no levels}
    private static Parts parts(
            BlockLayout layout,
            int group,
            Levels levels,
            GridCode.Numbering numbering,
            ColumnCode columns,
            Constants constants) {
        if (levels == null) {
            return null;
        }
        int spanBytes = SPAN / layout.size() * layout.bytes();
        BlockScales blocks = group == UNIT && numbering.power() == 0 ? BlockScales.of(layout) : null;
        if (blocks != null) {
            return new Parts(levels, numbering, columns, constants, blocks, null, null);
        }
        Scale minimum = layout.minimums().orElse(null);
        int power = numbering.power();
        List<Lane> scales = Lane.of(layout, layout.scales().orElseThrow(), SPAN / group, power);
        List<Lane> minimums = minimum == null ? scales : Lane.of(layout, minimum, SPAN / group, power);
        if (scales == null || minimums == null) {
            return null;
        }
        if (group == SMALL_GROUP) {
            NumberScales first = NumberScales.of(scales, spanBytes, constants);
            NumberScales second = minimum == null ? first : NumberScales.of(minimums, spanBytes, constants);
            return first == null || second == null
                    ? null
                    : new Parts(levels, numbering, columns, constants, null, first, minimum == null ? null : second);
        }
        List<Lane> both = new ArrayList<>(scales);
        both.addAll(minimums);
        NumberScales together = NumberScales.of(both, spanBytes, constants);
        return together == null ? null : new Parts(levels, numbering, columns, constants, null, together, null);
    }

    private static int zero(BlockLayout layout) {
        return layout.codeBook().map(book -> Math.max(0, -book.least())).orElse(layout.zero());
    }

    private static int most(BlockLayout layout) {
        int bits = Math.min(layout.levels().width(), Byte.SIZE);
        return layout.codeBook().map(CodeBook::greatest).orElse((1 << bits) - 1 - zero(layout)) + zero(layout);
    }

    /// Makes the code of a span once, so that constants know how often they are used.
    private void count(Assembler a) {
        for (int chunk = 0; chunk < SPAN / 64; chunk++) {
            levels512(a, Gpr.RAX, chunk, zmm(0), zmm(1));
        }
        scales512(a, Gpr.RAX, zmm(0), zmm(1), zmm(2), zmm(3));
    }

    @Override
    public void constants512(Assembler a) {
        constants.load(a);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        if (blockScales != null) {
            blockScales.emit512(a, w, scales, t, u);
            return;
        }
        numberScales.emit(a, w, 0, scales, t, u);
        if (numberMinimums != null) {
            numberMinimums.emit(a, w, 0, mins, t, u);
        }
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec out = ymm(8);
        Vec t = ymm(9);
        Vec u = ymm(10);
        if (blockScales != null) {
            blockScales.emit256(a, w, scales, mins, t, u);
            return;
        }
        int parts = SPAN / group / 8;
        for (int part = 0; part < parts; part++) {
            numberScales.emit(a, w, 8 * part, out, t, u);
            a.vmovdqu(scales.plus(32 * part), out);
            if (numberMinimums != null) {
                numberMinimums.emit(a, w, 8 * part, out, t, u);
                a.vmovdqu(mins.plus(32 * part), out);
            }
        }
        if (this.mins && numberMinimums == null) {
            numberScales.emit(a, w, 8, out, t, u);
            a.vmovdqu(mins, out);
        }
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        this.levels.emit(a, w, 64 * chunk, 64, levels, t);
    }

    @Override
    public void unit512(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        this.levels.emit(a, w, UNIT * unit, UNIT, levels.y(), t.y());
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        this.levels.emit(a, w, UNIT * unit, UNIT, levels, t);
    }

    @Override
    public void unitScale(Assembler a, Gpr w, Vec d) {
        blockScales.emitUnitScale(a, w, d);
    }

    @Override
    public void unitMin(Assembler a, Gpr w, Vec m) {
        blockScales.emitUnitMinimum(a, w, m);
    }

    @Override
    public boolean hasColumns() {
        return columns != null;
    }

    @Override
    public boolean columnsHaveScales() {
        return numberScales != null && numberScales.signedBytes() >= 0 && !mins;
    }

    @Override
    public void columns(Assembler a, Columns span) {
        columns.emit(a, span, constants);
        if (!columnsHaveScales()) {
            return;
        }
        Vec t = span.vec(8);
        Vec d = span.vec(10);
        span.f16(numberScales.factor(), d, t);
        span.load(numberScales.signedBytes());
        for (int g = 0; g < SPAN / group; g++) {
            a.vpslld(t, span.vec(g / 4), 24 - 8 * (g % 4));
            a.vpsrad(t, t, 24);
            a.vcvtdq2ps(t, t);
            a.vmulps(t, t, d);
            span.scale(g, t);
        }
    }
}
