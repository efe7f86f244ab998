package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.backend.cpu.vector.kernel.layout.SpanReader;
import java.util.Locale;

/// The kernel of a format that is known by its layout alone.
public final class LayoutLinear extends LevelLinear {
    private final SpanReader reader;

    /// Creates a kernel.
    ///
    /// @param format format id
    /// @param reader reads its blocks
    public LayoutLinear(String format, SpanReader reader) {
        super(
                format.toLowerCase(Locale.ROOT) + ".layout",
                kind(reader),
                reader.layout().size(),
                reader.layout().bytes(),
                (r, b, f) -> reader.factors(r, b, SPARE, f, scalesAt(0), scalesAt(1) - scalesAt(0)),
                (r, b, f) -> reader.levels(r, b, levelsAt(1)));
        this.reader = reader;
    }

    /// {@return whether rows of a length can be multiplied}
    ///
    /// @param n elements of a row
    public boolean accepts(int n) {
        return reader.accepts(n);
    }

    private static Kind kind(SpanReader reader) {
        boolean wide = reader.group() == 32;
        return reader.hasOffsets()
                ? wide ? Kind.SCALE_OFFSET_32 : Kind.SCALE_OFFSET_16
                : wide ? Kind.SCALE_32 : Kind.SCALE_16;
    }
}
