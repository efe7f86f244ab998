package dev.tenon.kernels.x86.block;

/// The memory layout of a packed row: activations rounded to bytes, or words, with a float scale
/// for each group of the format.
///
/// ```
/// bytes, groups of 16 or 32:
///      0                 256 S
///      | q: int8[256] × S | (dx: float32[256/G], c: float32[256/G], u: float32[256/G]) × S | to 64 bytes
///
/// G: group of the format; S: spans of 256, the last one perhaps partial
///
/// m     = max |x[i]| over group g, at least 1e-30
/// dx[g] = m / 127, its two lowest bits cleared
/// q[i]  = round to even(x[i] * (127 / m))
/// c[g]  = BIAS - zero * sum of q over group g, or, with minimums, -dx[g] * sum of q over group g
/// u[g]  = -BIAS * dx[g]
///
/// words, groups of 32:
///      0                  512 S
///      | q: int16[256] × S | dx: float32[8] × S | to 64 bytes
///
/// dx[g] = m / 32767,  q[i] = round to even(x[i] * (32767 / m))
///
/// bytes, tiled (`PackTileCode`): a place in the spans has one scale for the PanelShape.TILE spans of a tile
///      0                 256 S                    256 S + 64 S
///      | q: int8[256] × S | c: float32[256/G] × S | dx: float32[256/G] × T | to 64 bytes
/// ```
///
/// After that comes the same once more in the order in which `PanelLoop` reads it: [256 / G][S]
/// pieces, each of them a group, place of the group in its span first:
///
/// ```
/// | q: int8[G] or int16[G] | dx: float32 | c: float32 | u: float32 |
/// ```
///
/// Words have dx only, tiled bytes c only.
///
/// The maximum is taken of the bits as integers, so that a NaN or an infinity wins and makes dx,
/// and with it every dot product, NaN or infinite: broken activations are not hidden. `c` is what
/// undoes the levels' offset (`zero`), or, times a group's minimum, what the minimum contributes.
public final class PackedActivations {
    /// What is added to the dot products of bytes: 1.5 * 2^23. A unit in the last place of such a
    /// float is 1, so the bits of `BIAS + dot` are the integer sum of BIAS's bits and `dot`:
    /// nothing has to be converted. That `u` is exact is why two bits of dx are cleared.
    public static final float BIAS = 0x1.8p23f;

    private PackedActivations() {}

    /// {@return spans of a row, the last one perhaps partial}
    ///
    /// @param n elements
    public static long spans(int n) {
        return ((long) n + BlockCode.SPAN - 1) / BlockCode.SPAN;
    }

    /// {@return bytes of quantised values in a packed row}
    ///
    /// @param n elements
    public static long scalesOffset(BlockCode format, int n) {
        return spans(n) * BlockCode.SPAN * format.levelBytes();
    }

    /// {@return bytes of dx for a span, as many as of c and of u}
    public static int arrayBytes(BlockCode format) {
        return Float.BYTES * BlockCode.SPAN / format.group;
    }

    /// {@return tiles of a row, the last one perhaps partial}
    ///
    /// @param n elements
    public static long tiles(int n) {
        return (spans(n) + PanelShape.TILE - 1) / PanelShape.TILE;
    }

    /// {@return how many floats a group has: of dx, c and u}
    private static int floats(BlockCode format) {
        return format.words || format.tiled ? 1 : 3;
    }

    /// {@return bytes of all scales for a span: of dx, c and u, or what the format has of them}
    public static int scaleBytes(BlockCode format) {
        return floats(format) * arrayBytes(format);
    }

    /// {@return where dx of the tiles begins in a packed row, for tiled formats}
    ///
    /// @param n elements
    public static long tilesOffset(BlockCode format, int n) {
        return spans(n) * spanBytes(format);
    }

    /// {@return bytes of a packed row, an odd number of cache lines: else rows share a few sets of
    /// the cache}
    ///
    /// @param n elements
    public static long packedBytes(BlockCode format, int n) {
        long pieces = spans(n) * (BlockCode.SPAN / format.group) * pieceBytes(format);
        return (piecesOffset(format, n) + pieces + 63) & -64 | 64;
    }

    /// {@return where the pieces begin in a packed row}
    ///
    /// @param n elements
    public static long piecesOffset(BlockCode format, int n) {
        long tiles = format.tiled ? tiles(n) * arrayBytes(format) : 0;
        return (spans(n) * spanBytes(format) + tiles + 63) & -64;
    }

    public static int spanBytes(BlockCode format) {
        return BlockCode.SPAN * format.levelBytes() + scaleBytes(format);
    }

    /// {@return bytes of a piece}
    public static int pieceBytes(BlockCode format) {
        return pieceScales(format) + floats(format) * Float.BYTES;
    }

    /// {@return where dx is in a piece, or c in a tiled format}
    public static int pieceScales(BlockCode format) {
        return format.group * format.levelBytes();
    }
}
