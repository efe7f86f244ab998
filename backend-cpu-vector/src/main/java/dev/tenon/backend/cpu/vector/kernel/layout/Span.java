package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.BlockLayout;

/// The blocks that a kernel unpacks at once: 256 values of a row, or what is left of it.
///
/// @param size values of a block
/// @param bytes bytes of a block
/// @param merged blocks that are read as if they were one: as many as have 16 bytes together
public record Span(int size, int bytes, int merged) {
    /// Most values of a span.
    public static final int VALUES = 256;

    /// Bytes of a load, none of which reaches into other memory than that of the merged blocks.
    static final int LOAD = 16;

    /// {@return the span of a layout}
    ///
    /// @param layout the layout, whose block size divides [#VALUES]
    public static Span of(BlockLayout layout) {
        int merged = 1;
        while (merged * layout.bytes() < LOAD && merged * layout.size() < VALUES) {
            merged *= 2;
        }
        return new Span(layout.size(), layout.bytes(), merged);
    }

    /// {@return blocks of a whole span}
    int blocks() {
        return VALUES / size;
    }

    /// {@return where to load so many bytes, so that a byte is among them}
    ///
    /// @param block which block
    /// @param at the byte, counted from the block's first
    /// @param load how many bytes are loaded
    int loadAt(int block, int at, int load) {
        int end = (block / merged + 1) * merged * bytes;
        return Math.min(block * bytes + at, end - load);
    }
}
