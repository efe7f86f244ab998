package dev.tenon.quant.formats;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;

/// What all formats of this module share: a name, a layout, and the checks of sizes. Without an encoder, unless a
/// subclass has one.
///
/// Stateless, for any thread.
abstract class LayoutFormat implements QuantFormat {
    private final String id;
    private final int ggmlType;
    private final Optional<BlockLayout> layout;

    /// Creates a format.
    ///
    /// @param id ggml's name
    /// @param ggmlType tensor type number in GGUF files
    /// @param layout how a block is laid out
    LayoutFormat(String id, int ggmlType, BlockLayout layout) {
        this.id = id;
        this.ggmlType = ggmlType;
        this.layout = Optional.of(layout);
    }

    @Override
    public final String id() {
        return id;
    }

    @Override
    public final int ggmlType() {
        return ggmlType;
    }

    @Override
    public final Optional<BlockLayout> layout() {
        return layout;
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return Optional.empty();
    }

    @Override
    public final void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        checkRanges(target, targetOffset, "target", source, offsetBytes, "source", n);
        layout.orElseThrow().decode(source, offsetBytes, target, targetOffset, n);
    }

    /// Checks that values and blocks are inside of what holds them.
    final void checkRanges(
            float[] values, int at, String valuesName, MemorySegment blocks, long offset, String blocksName, int n) {
        Objects.requireNonNull(values, valuesName);
        Objects.requireNonNull(blocks, blocksName);
        long bytes = bytesFor(n);
        if (at < 0 || n > values.length - at) {
            throw new IndexOutOfBoundsException("%s: %d values from index %d do not fit the %s of %d floats"
                    .formatted(id, n, at, valuesName, values.length));
        }
        if (offset < 0 || bytes > blocks.byteSize() - offset) {
            throw new IndexOutOfBoundsException(
                    "%s: %d values take %d bytes; from byte %d they do not fit the %s of %d bytes"
                            .formatted(id, n, bytes, offset, blocksName, blocks.byteSize()));
        }
    }

    @Override
    public final String toString() {
        return id;
    }
}
