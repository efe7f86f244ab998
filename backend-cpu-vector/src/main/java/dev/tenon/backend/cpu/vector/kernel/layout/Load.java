package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.Numbers.Piece;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Sixteen bytes and what sixteen numbers get of them.
///
/// @param at the first byte, counted from the span's first
/// @param lanes the piece of each number, its bits counted from the load's first; of no bits if it gets none
record Load(int at, List<Piece> lanes) {
    private static final int LANES = 16;
    private static final Piece NONE = new Piece(0, 0, 0);

    /// {@return the loads that some numbers take, those of their first pieces first}
    ///
    /// @param numbers pieces of each number, at most sixteen
    /// @param span where the block is
    /// @param block which one
    static List<Load> all(List<List<Piece>> numbers, Span span, int block) {
        List<Load> loads = new ArrayList<>();
        int most = numbers.stream().mapToInt(List::size).max().orElseThrow();
        for (int p = 0; p < most; p++) {
            List<Piece> left = new ArrayList<>();
            for (List<Piece> pieces : numbers) {
                left.add(p < pieces.size() ? pieces.get(p) : NONE);
            }
            while (left.stream().anyMatch(piece -> piece.width() > 0)) {
                loads.add(take(left, span, block));
            }
        }
        return loads;
    }

    /// Takes what a load has of the pieces that are left, from the first one on.
    private static Load take(List<Piece> left, Span span, int block) {
        int first = left.stream()
                .filter(piece -> piece.width() > 0)
                .mapToInt(Piece::bit)
                .min()
                .orElseThrow();
        int at = span.loadAt(block, first / Byte.SIZE, Span.LOAD);
        int start = Byte.SIZE * (at - block * span.bytes());
        List<Piece> lanes = new ArrayList<>(Collections.nCopies(LANES, NONE));
        for (int i = 0; i < left.size(); i++) {
            Piece piece = left.get(i);
            int bit = piece.bit() - start;
            if (piece.width() > 0 && bit + piece.width() <= Byte.SIZE * Span.LOAD) {
                lanes.set(i, new Piece(bit, piece.width(), piece.to()));
                left.set(i, NONE);
            }
        }
        return new Load(at, List.copyOf(lanes));
    }

    /// {@return whether all pieces are at the same bits of neighbouring bytes}
    boolean isStraight() {
        Piece first = lanes.getFirst();
        for (int i = 0; i < LANES; i++) {
            if (!lanes.get(i).equals(new Piece(shift() + Byte.SIZE * i, first.width(), first.to()))) {
                return false;
            }
        }
        return shift() + first.width() <= Byte.SIZE;
    }

    /// {@return bits of the first number's piece}
    int width() {
        return lanes.getFirst().width();
    }

    /// {@return its first bit}
    int shift() {
        return lanes.getFirst().bit();
    }
}
