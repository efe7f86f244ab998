package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import java.util.Optional;

/// Reads the blocks of a layout, up to 256 values of a row at a time, as int8 levels and float32 factors:
///
/// ```
/// value[i] = scale[i / group] * level[i] + offset[i / group]
/// ```
///
/// Immutable; safe for any thread.
public final class SpanReader {
    private static final int GROUP = 16;
    private static final int WIDE_GROUP = 32;
    private static final int EIGHT = 8;

    private final BlockLayout layout;
    private final Span span;
    private final int group;
    private final LevelReader levels;
    private final Factors scales;
    private final Factors offsets;
    /// The whole numbers of scales and then of minimums, a byte each; or null.
    private final ByteNumbers bytes;
    /// Where those of minimums begin.
    private final int secondBytes;

    private SpanReader(BlockLayout layout, LevelNumbers numbers) {
        this.layout = layout;
        span = Span.of(layout);
        int least = Math.min(layout.group(), group(layout.minimums(), layout.size()));
        group = least % WIDE_GROUP == 0 ? WIDE_GROUP : GROUP;
        levels = new LevelReader(layout, numbers, span);
        Numbers first = layout.scales().orElseThrow().numbers();
        Optional<Numbers> second = layout.minimums().map(Scale::numbers);
        boolean scaleBytes = Factors.areBytes(first);
        boolean offsetBytes = second.filter(n -> Factors.areBytes(n) && (!scaleBytes || n.type() == first.type()))
                .isPresent();
        Optional<Numbers> whole = scaleBytes
                ? Optional.of(offsetBytes ? first.then(second.orElseThrow()) : first)
                : second.filter(_ -> offsetBytes);
        bytes = whole.map(all -> ByteNumbers.of(all, span, 0, new byte[0])).orElse(null);
        int blockBytes = bytes == null ? 0 : bytes.perBlock();
        scales = new Factors(
                layout.scales().get(), span, Math.scalb(1f, -numbers.power()), group, scaleBytes ? blockBytes : 0);
        offsets = layout.minimums()
                .map(scale -> new Factors(scale, span, -1, group, offsetBytes ? blockBytes : 0))
                .orElse(null);
        secondBytes = scaleBytes ? first.count() : 0;
    }

    /// {@return a reader of blocks, or empty if they cannot be read: blocks whose size divides 256 and is a multiple of
    /// 16, scales and minimums of groups of 16 or more values, numbers of eight bits can}
    ///
    /// @param layout how blocks are laid out
    public static Optional<SpanReader> of(BlockLayout layout) {
        if (layout.scales().isEmpty()
                || Span.VALUES % layout.size() != 0
                || layout.size() % GROUP != 0
                || layout.codeBook().isEmpty() && !ByteNumbers.reads(layout.levels())
                || layout.codeBook().filter(book -> book.length() > EIGHT).isPresent()
                || !reads(layout.scales(), layout.size())
                || !reads(layout.minimums(), layout.size())
                || layout.signs()
                        .filter(signs -> !EightChanges.readsSigns(signs))
                        .isPresent()
                || group(layout.shifts(), layout.size()) % EIGHT != 0) {
            return Optional.empty();
        }
        return LevelNumbers.of(layout).map(numbers -> new SpanReader(layout, numbers));
    }

    private static boolean reads(Optional<Scale> scale, int size) {
        return group(scale, size) % GROUP == 0
                && scale.filter(s -> s.numbers().type() == Numbers.Type.TRITS).isEmpty();
    }

    private static int group(Optional<Scale> scale, int size) {
        return scale.map(s -> size / s.count()).orElse(size);
    }

    /// {@return whether rows of a length can be read}
    ///
    /// @param n values of a row
    public boolean accepts(int n) {
        return n % Math.max(WIDE_GROUP, span.size() * span.merged()) == 0;
    }

    /// {@return the layout}
    public BlockLayout layout() {
        return layout;
    }

    /// {@return values that have a scale, and an offset: 16 or 32}
    public int group() {
        return group;
    }

    /// {@return whether there are offsets}
    public boolean hasOffsets() {
        return offsets != null;
    }

    /// Reads the levels of some rows.
    ///
    /// @param rows the rows; at most 256 values of each
    /// @param out receives the levels from index 0 on
    /// @param outApart levels to those of the next row
    public void levels(RowSpans rows, byte[] out, int outApart) {
        levels.read(rows, out, outApart);
    }

    /// Reads the scales of some rows, and the offsets: those of 256 values begin after as many scales as 256
    /// values have.
    ///
    /// @param rows the rows; at most 256 values of each
    /// @param memory bytes
    /// @param spare index of 256 bytes a row, and 16 more, that are free
    /// @param out receives scales and offsets, and up to 16 floats after them that do not count
    /// @param to index of the first row's first scale
    /// @param outApart floats to those of the next row
    public void factors(RowSpans rows, byte[] memory, int spare, float[] out, int to, int outApart) {
        if (bytes != null) {
            bytes.read(rows, rows.n / span.size(), memory, spare, Span.VALUES);
        }
        scales.read(rows, memory, spare, out, to, outApart);
        if (offsets != null) {
            offsets.read(rows, memory, spare + secondBytes, out, to + Span.VALUES / group, outApart);
        }
    }
}
