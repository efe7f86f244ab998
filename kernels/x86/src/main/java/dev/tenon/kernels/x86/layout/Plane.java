package dev.tenon.kernels.x86.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.ArrayList;
import java.util.List;

/// One piece of each level of a span.
///
/// @param width its bits
/// @param to the lowest of them in the level
/// @param bits where each piece begins, in bits from the start of the span
record Plane(int width, int to, int[] bits) {
    /// {@return the pieces of all levels of a span; null if they are not alike}
    static List<Plane> of(BlockLayout layout) {
        List<Plane> planes = new ArrayList<>();
        for (Numbers.Piece piece : layout.levels().pieces(0)) {
            planes.add(new Plane(piece.width(), piece.to(), new int[BlockCode.SPAN]));
        }
        for (int i = 0; i < BlockCode.SPAN; i++) {
            List<Numbers.Piece> pieces = layout.levels().pieces(i % layout.size());
            if (pieces.size() != planes.size()) {
                return null;
            }
            int block = i / layout.size() * layout.bytes() * Byte.SIZE;
            for (int p = 0; p < pieces.size(); p++) {
                Numbers.Piece piece = pieces.get(p);
                Plane plane = planes.get(p);
                if (piece.width() != plane.width || piece.to() != plane.to) {
                    return null;
                }
                plane.bits[i] = block + piece.bit();
            }
        }
        return planes;
    }

    /// {@return the bits of a level, repeated for the four of a dword}
    int mask() {
        return ((1 << width) - 1 << to) * 0x01010101;
    }

    /// {@return the byte that a piece begins in}
    int at(int level) {
        return bits[level] / Byte.SIZE;
    }

    /// {@return the bit of it}
    int shift(int level) {
        return bits[level] % Byte.SIZE;
    }

    /// {@return whether pieces lie in bytes that follow one another, at the same bits of them}
    ///
    /// @param first the first level
    /// @param count how many, a multiple of four
    boolean inDwords(int first, int count) {
        for (int i = first; i < first + count; i++) {
            int lead = i - (i - first) % Integer.BYTES;
            if (bits[i] != bits[lead] + Byte.SIZE * (i - lead) || shift(i) + width > Byte.SIZE) {
                return false;
            }
        }
        return true;
    }

    /// {@return whether the bytes of pieces follow one another, sixteen by sixteen}
    ///
    /// @param first the first level
    /// @param count how many, a multiple of sixteen
    boolean inLanes(int first, int count) {
        for (int i = first; i < first + count; i++) {
            int lead = i - (i - first) % LevelCode.LANE;
            if (at(i) != at(lead) + i - lead) {
                return false;
            }
        }
        return true;
    }

    /// {@return what a dword of pieces is shifted right by to bring it into place; may be negative}
    int distance(int level) {
        return shift(level) - to;
    }
}
