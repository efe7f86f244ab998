package dev.tenon.api.media;

/// One of the pictures that an encoder gets for a picture: a tile, or the whole.
///
/// @param size its size
/// @param column its place among the tiles of its row; -1 for the whole
/// @param row its row of tiles; -1 for the whole
public record Piece(Size size, int column, int row) {
    static Piece whole(Size size) {
        return new Piece(size, -1, -1);
    }

    /// {@return whether it is a part of the picture; otherwise it is the whole, of another size}
    public boolean isTile() {
        return row >= 0;
    }
}
