package dev.tenon.api.media;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What an encoder makes of a picture before it looks at it: the whole in some size and, after a rule
/// with [#tiled], tiles before it. Immutable.
///
/// ```java
/// PictureRule rule = PictureRule.of(SizeRule.smart(28, 8 * 784, 4096 * 784), Resizing.letterbox(BILINEAR, 0));
/// ```
///
/// @param size size of the whole
/// @param resizing how the whole gets it
/// @param tiling how it is cut, or null
public record PictureRule(
        SizeRule size, Resizing resizing, @Nullable Tiling tiling) {
    /// Tiles of a picture.
    ///
    /// @param grid how many
    /// @param tile size of one
    /// @param resizing how the picture gets the size of all
    public record Tiling(GridRule grid, Size tile, Resizing resizing) {}

    /// {@return the rule for the whole alone}
    ///
    /// @param size its size
    /// @param resizing how it gets it
    public static PictureRule of(SizeRule size, Resizing resizing) {
        return new PictureRule(size, resizing, null);
    }

    /// {@return the same with tiles before the whole}
    ///
    /// @param grid how many
    /// @param tile size of one
    /// @param resizing how the picture gets the size of all
    public PictureRule tiled(GridRule grid, Size tile, Resizing resizing) {
        return new PictureRule(size, this.resizing, new Tiling(grid, tile, resizing));
    }

    /// {@return the same without keeping proportions anywhere, as the processors that models were
    ///     trained with do}
    public PictureRule stretched() {
        return new PictureRule(
                size,
                resizing.stretched(),
                tiling == null ? null : new Tiling(tiling.grid, tiling.tile, tiling.resizing.stretched()));
    }

    /// Tells the pieces, without a picture.
    ///
    /// @param picture a picture's size
    /// @return at least one: tiles row by row, then the whole
    public List<Piece> pieces(Size picture) {
        List<Piece> pieces = new ArrayList<>();
        Optional<Grid> grid = tiling == null ? Optional.empty() : tiling.grid.of(picture);
        for (int row = 0; grid.isPresent() && row < grid.get().rows(); row++) {
            for (int column = 0; column < grid.get().columns(); column++) {
                pieces.add(new Piece(tiling.tile, column, row));
            }
        }
        pieces.add(Piece.whole(size.of(picture)));
        return List.copyOf(pieces);
    }

    /// Makes the pieces.
    ///
    /// @param picture the picture
    /// @return those that [#pieces] tells, in their order
    /// @throws IllegalArgumentException if one is too large for a picture
    public List<Picture> apply(Picture picture) {
        List<Picture> pictures = new ArrayList<>();
        Optional<Grid> grid = tiling == null ? Optional.empty() : tiling.grid.of(picture.size());
        if (grid.isPresent()) {
            Size tile = tiling.tile;
            Picture all = tiling.resizing.resize(picture, grid.get().of(tile));
            for (Piece piece : pieces(picture.size())) {
                if (piece.isTile()) {
                    pictures.add(all.cut(piece.column() * tile.width(), piece.row() * tile.height(), tile));
                }
            }
        }
        pictures.add(resizing.resize(picture, size.of(picture.size())));
        return List.copyOf(pictures);
    }
}
