package dev.tenon.kernels.x86.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.ArrayList;
import java.util.List;

/// A scale or a minimum of a span that is a whole number times a factor in half precision.
///
/// @param pieces the bits of the number, from the start of the span
/// @param signed whether it has a sign
/// @param factor the first byte of the factor
/// @param step what the number is multiplied with before
/// @param offset what is added to it then
record Lane(List<Numbers.Piece> pieces, boolean signed, int factor, float step, float offset) {
    /// {@return those of a span's groups; null if they are of another kind}
    ///
    /// @param layout of blocks that are a span
    /// @param scale scales or minimums
    /// @param groups how many groups a span has
    static List<Lane> of(BlockLayout layout, Scale scale, int groups) {
        Numbers common = scale.common().orElse(null);
        Numbers.Type type = scale.numbers().type();
        boolean whole = type == Numbers.Type.UNSIGNED || type == Numbers.Type.SIGNED;
        if (common == null || !whole || !isHalf(common) || groups % scale.count() != 0) {
            return null;
        }
        List<Lane> lanes = new ArrayList<>();
        for (int g = 0; g < groups; g++) {
            lanes.add(new Lane(
                    scale.numbers().pieces(g * scale.count() / groups),
                    type == Numbers.Type.SIGNED,
                    common.pieces(0).getFirst().bit() / Byte.SIZE,
                    scale.step(),
                    scale.offset()));
        }
        return lanes;
    }

    /// Whether a number is a half in two neighbouring bytes.
    static boolean isHalf(Numbers number) {
        return number.type() == Numbers.Type.F16
                && number.pieces(0).size() == 1
                && number.pieces(0).getFirst().bit() % Byte.SIZE == 0;
    }

    /// {@return a piece, or one without bits}
    Numbers.Piece piece(int rank) {
        return rank < pieces.size()
                ? pieces.get(rank)
                : new Numbers.Piece(pieces.getFirst().bit(), 0, 0);
    }

    /// {@return the same lane, its pieces cut where a dword ends}
    ///
    /// @param head the byte from which dwords count
    Lane cut(int head) {
        List<Numbers.Piece> cut = new ArrayList<>();
        for (Numbers.Piece piece : pieces) {
            int room = Integer.SIZE - (piece.bit() - Byte.SIZE * head) % Integer.SIZE;
            int first = Math.min(room, piece.width());
            cut.add(new Numbers.Piece(piece.bit(), first, piece.to()));
            if (first < piece.width()) {
                cut.add(new Numbers.Piece(piece.bit() + first, piece.width() - first, piece.to() + first));
            }
        }
        return new Lane(cut, signed, factor, step, offset);
    }

    /// {@return whether all of the number is in one byte, next to that of the lane before}
    ///
    /// @param number which lane it is
    /// @param first the first lane
    boolean follows(int number, Lane first) {
        Numbers.Piece piece = pieces.getFirst();
        Numbers.Piece lead = first.pieces.getFirst();
        return pieces.size() == 1
                && piece.width() == lead.width()
                && piece.bit() == lead.bit() + Byte.SIZE * number
                && piece.bit() % Byte.SIZE + piece.width() <= Byte.SIZE;
    }
}
