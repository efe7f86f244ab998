package dev.tenon.kernels.x86.block;

import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.cpu.FeatureSet;

/// How unpacked weights of some rows lie in scratch memory, for the panel kernels.
///
/// ```
/// [n / 256 / TILE][256 / G][TILE] blocks: for each tile of spans, place of a group in its span, and span;
/// tiled formats have float32 [rows] after the TILE blocks of each place: the sum of their scales
///
/// block   float32 [rows]                      scales
///         float32 [rows]                      minimums, in formats that have them
///         uint8   [G / 4][rows][4]            levels: four neighbouring weights of all rows fill two registers
///         int16   [G / 2][rows][2]            two, where levels are words
/// ```
///
/// @param rows rows of a panel: twice the 32-bit lanes of a register
/// @param many tokens of the wide panel function
/// @param few tokens of the narrow one
public record PanelShape(int rows, int many, int few) {
    /// Spans of a tile: what the first-level cache keeps of the packed activations of `many`
    /// tokens.
    public static final int TILE = 8;
    /// Bytes of the temporary memory for unpacking.
    public static final int TEMP_BYTES = 10 * 1024;
    /// Where scales and minimums are in it.
    public static final int TEMP_SCALES = 8 * 1024;
    public static final int TEMP_MINS = 9 * 1024;

    /// The shape with AVX-512: 12 registers of integers and 12 of floats.
    public static final PanelShape WIDE = new PanelShape(32, 6, 4);
    /// The shape with AVX2: six and six.
    public static final PanelShape NARROW = new PanelShape(16, 3, 2);

    /// {@return the shape for a feature set}
    public static PanelShape of(FeatureSet set) {
        return set.wide ? WIDE : NARROW;
    }

    /// {@return a vector register that holds a number of each row of one part of a panel}
    public Vec vec(int number) {
        return new Vec(number, 8 * registerBytes());
    }

    /// {@return bytes of such a register}
    public int registerBytes() {
        return lanes() * Float.BYTES;
    }

    /// {@return how often the wide function runs first: what is then left is not worth another run
    /// of it}
    ///
    /// @param tokens how many there are
    public int runsOfMany(int tokens) {
        int rest = tokens % many;
        return tokens / many - (rest > 0 && many + rest <= 2 * few ? 1 : 0);
    }

    /// {@return how often the wide function and the narrow one run for some tokens together}
    ///
    /// @param tokens how many there are
    public int runs(int tokens) {
        int wide = runsOfMany(tokens);
        return wide + (Math.max(0, tokens - wide * many) + few - 1) / few;
    }

    /// {@return bytes of four weights, or of one float, of all rows}
    public int stride() {
        return rows * Float.BYTES;
    }

    /// {@return rows that are unpacked at a time, one register's lanes}
    public int lanes() {
        return rows / 2;
    }

    /// {@return bytes of the scales and minimums in front of a block's levels}
    public int headBytes(BlockCode format) {
        return format.mins ? 2 * stride() : stride();
    }

    /// {@return how many times 32 bits of levels each row has in a block}
    public int dwords(BlockCode format) {
        return format.group * format.levelBytes() / 4;
    }

    /// {@return bytes of a block}
    public int blockBytes(BlockCode format) {
        return headBytes(format) + dwords(format) * stride();
    }

    /// {@return bytes between two places of a tile}
    public int placeBytes(BlockCode format) {
        return scaleSums(format) + (format.tiled ? stride() : 0);
    }

    /// {@return bytes from a place's first block to the sums of its scales, in a tiled format}
    public int scaleSums(BlockCode format) {
        return TILE * blockBytes(format);
    }

    /// {@return bytes of a tile}
    public int tileBytes(BlockCode format) {
        return BlockCode.SPAN / format.group * placeBytes(format);
    }

    /// {@return bytes from the block of a span's first group to a piece of 32 bits of all rows}
    ///
    /// @param dword which piece of the span
    public int levels(BlockCode format, int dword) {
        return dword / dwords(format) * placeBytes(format) + headBytes(format) + dword % dwords(format) * stride();
    }

    /// {@return bytes of a panel}
    ///
    /// @param n elements in a row
    public long panelBytes(BlockCode format, int n) {
        return PackedActivations.tiles(n) * tileBytes(format);
    }
}
