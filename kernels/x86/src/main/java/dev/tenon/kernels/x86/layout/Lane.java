package dev.tenon.kernels.x86.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.ArrayList;
import java.util.List;

/// A scale or a minimum of a span: a whole number times a factor in half precision, or a float of eight bits.
///
/// @param pieces the bits of the number, from the start of the span
/// @param type how they become a number
/// @param common the bits of the factor; none of a float
/// @param step what the number is multiplied with before
/// @param offset what is added to it then
record Lane(List<Numbers.Piece> pieces, Numbers.Type type, List<Numbers.Piece> common, float step, float offset) {
    /// {@return those of a span's groups; null if they are of another kind}
    ///
    /// @param layout of blocks that are a span, or parts of it
    /// @param scale scales or minimums
    /// @param groups how many groups a span has
    /// @param power levels are multiplied with `2^power`
    static List<Lane> of(BlockLayout layout, Scale scale, int groups, int power) {
        Numbers common = scale.common().orElse(null);
        Numbers.Type type = scale.numbers().type();
        boolean whole = type == Numbers.Type.UNSIGNED || type == Numbers.Type.SIGNED;
        boolean product =
                whole && common != null && common.type() == Numbers.Type.F16 && layout.size() == BlockCode.SPAN;
        boolean number = type == Numbers.Type.UE4M3_HALF && common == null && scale.step() == 1 && scale.offset() == 0;
        int perBlock = groups * layout.size() / BlockCode.SPAN;
        if (!product && !number || perBlock == 0 || perBlock % scale.count() != 0) {
            return null;
        }
        List<Lane> lanes = new ArrayList<>();
        for (int g = 0; g < groups; g++) {
            int block = g / perBlock * layout.bytes() * Byte.SIZE;
            lanes.add(new Lane(
                    scale.numbers().pieces(g % perBlock * scale.count() / perBlock).stream()
                            .map(piece -> new Numbers.Piece(block + piece.bit(), piece.width(), piece.to()))
                            .toList(),
                    type,
                    common == null ? List.of() : common.pieces(0),
                    Math.scalb(scale.step(), -power),
                    Math.scalb(scale.offset(), -power)));
        }
        return lanes;
    }

    /// Whether a number is a half in two neighbouring bytes.
    static boolean isHalf(Numbers number) {
        return number.type() == Numbers.Type.F16
                && number.pieces(0).size() == 1
                && number.pieces(0).getFirst().bit() % Byte.SIZE == 0;
    }

    boolean signed() {
        return type == Numbers.Type.SIGNED;
    }

    /// {@return whether the factor is in two neighbouring bytes}
    boolean hasPlainFactor() {
        return common.size() == 1 && common.getFirst().bit() % Byte.SIZE == 0;
    }

    /// {@return the first byte of such a factor}
    int factor() {
        return common.getFirst().bit() / Byte.SIZE;
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
        return new Lane(cut, type, common, step, offset);
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
