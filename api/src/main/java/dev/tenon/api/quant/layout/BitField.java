package dev.tenon.api.quant.layout;

import java.util.ArrayList;
import java.util.List;

/// Equally wide pieces of a block, in a regular pattern: piece i is `width` bits, from bit `first` plus
/// what its place along each axis adds. Bits count from the lowest bit of the block's first byte.
///
/// ```
/// BitField.of(4).at(16).bytes(32, 1).bits(2, 4).bytes(4, 32)
/// ```
///
/// are 256 pieces of four bits from byte 16 on: the lower halves of 32 bytes, then their upper halves, and
/// the same with the next 32 bytes, four times. Immutable.
///
/// @param width bits of a piece, 1 to 32
/// @param first the first bit of the first piece
/// @param axes the pattern, the innermost axis first; without any there is one piece
public record BitField(int width, int first, List<Axis> axes) {
    /// One level of the pattern.
    ///
    /// @param count how often what is inside is repeated, at least 1
    /// @param step bits from one to the next, at least 0
    public record Axis(int count, int step) {
        /// Checks count and step.
        public Axis {
            if (count < 1 || step < 0) {
                throw new IllegalArgumentException(
                        count + " pieces, " + step + " bits apart; at least 1, and 0 bits, are needed");
            }
        }
    }

    /// Checks the width and the place.
    public BitField {
        axes = List.copyOf(axes);
        if (width < 1 || width > Integer.SIZE || first < 0) {
            throw new IllegalArgumentException(
                    "pieces of " + width + " bits from bit " + first + "; 1 to 32 bits, from bit 0 on, are possible");
        }
    }

    /// {@return one piece, at the beginning of the block}
    ///
    /// @param width its bits, 1 to 32
    public static BitField of(int width) {
        return new BitField(width, 0, List.of());
    }

    /// {@return the same pattern from another byte on}
    ///
    /// @param at byte of the block
    public BitField at(int at) {
        return at(at, 0);
    }

    /// {@return the same pattern from another place on}
    ///
    /// @param at byte of the block
    /// @param bit bit of this byte, 0 the lowest
    public BitField at(int at, int bit) {
        return new BitField(width, Byte.SIZE * at + bit, axes);
    }

    /// {@return the pattern, repeated}
    ///
    /// @param count how often
    /// @param step bytes from one to the next
    public BitField bytes(int count, int step) {
        return bits(count, Byte.SIZE * step);
    }

    /// {@return the pattern, repeated}
    ///
    /// @param count how often
    /// @param step bits from one to the next
    public BitField bits(int count, int step) {
        List<Axis> more = new ArrayList<>(axes);
        more.add(new Axis(count, step));
        return new BitField(width, first, more);
    }

    /// {@return how many pieces there are}
    public int count() {
        int count = 1;
        for (Axis axis : axes) {
            count = Math.multiplyExact(count, axis.count);
        }
        return count;
    }

    /// {@return the first bit of a piece}
    ///
    /// @param piece which one, from 0
    public int bit(int piece) {
        int bit = first;
        int rest = piece;
        for (Axis axis : axes) {
            bit += rest % axis.count * axis.step;
            rest /= axis.count;
        }
        return bit;
    }

    /// {@return the first bit behind all pieces}
    int end() {
        int last = first;
        for (Axis axis : axes) {
            last = Math.addExact(last, Math.multiplyExact(axis.count - 1, axis.step));
        }
        return last + width;
    }
}
