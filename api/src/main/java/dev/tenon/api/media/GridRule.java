package dev.tenon.api.media;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.osgi.annotation.versioning.ConsumerType;

/// The grid of tiles that a picture is cut into. Stateless.
@ConsumerType
@FunctionalInterface
public interface GridRule {
    /// Tells the grid.
    ///
    /// @param picture the picture's size
    /// @return the grid, or nothing if the picture is not cut
    Optional<Grid> of(Size picture);

    /// {@return the same rule for some pictures, no tiles for others}
    ///
    /// @param cut which pictures are cut, by their size
    default GridRule when(Predicate<Size> cut) {
        return picture -> cut.test(picture) ? of(picture) : Optional.empty();
    }

    /// {@return the rule that cuts a size into tiles}
    ///
    /// @param size sides that are multiples of the tile's
    /// @param tile size of a tile
    static GridRule of(SizeRule size, Size tile) {
        return picture -> {
            Size whole = size.of(picture);
            return Optional.of(new Grid(whole.width() / tile.width(), whole.height() / tile.height()));
        };
    }

    /// {@return the rule that takes the grid on which a picture has most pixels, at most its own; of
    ///     several the one that leaves fewest pixels empty, and of those the first}
    ///
    /// @param grids what there is to choose from, at least one
    /// @param tile size of a tile
    static GridRule best(List<Grid> grids, Size tile) {
        List<Grid> candidates = List.copyOf(grids);
        return picture -> candidates.stream()
                .max(Comparator.comparingLong((Grid grid) -> used(picture, grid.of(tile)))
                        .thenComparing(grid -> grid.of(tile).pixels(), Comparator.reverseOrder())
                        .thenComparing(candidates::indexOf, Comparator.reverseOrder()));
    }

    private static long used(Size picture, Size whole) {
        float scale = Math.min((float) whole.width() / picture.width(), (float) whole.height() / picture.height());
        long pixels = (long) (int) (picture.width() * scale) * (int) (picture.height() * scale);
        return Math.min(pixels, picture.pixels());
    }

    /// {@return the rule that takes the grid whose proportions are closest to the picture's; of
    ///     several the largest that the picture has more than half the pixels of, or else the smallest}
    ///
    /// @param min least tiles
    /// @param max most tiles
    /// @param tile size of a tile
    static GridRule closest(int min, int max, Size tile) {
        List<Grid> grids = new ArrayList<>();
        for (int longest = min; longest <= max; longest++) {
            for (int columns = 1; columns <= longest; columns++) {
                for (int rows = 1; rows <= longest; rows++) {
                    Grid grid = new Grid(columns, rows);
                    if (grid.tiles() >= min && grid.tiles() <= max && !grids.contains(grid)) {
                        grids.add(grid);
                    }
                }
            }
        }
        grids.sort(Comparator.comparingInt(Grid::tiles));
        return picture -> {
            float ratio = (float) picture.width() / picture.height();
            float nearest = Float.MAX_VALUE;
            Grid best = grids.getFirst();
            for (Grid grid : grids) {
                float away = Math.abs(ratio - (float) grid.columns() / grid.rows());
                if (away < nearest || away == nearest && picture.pixels() > 0.5 * tile.pixels() * grid.tiles()) {
                    nearest = away;
                    best = grid;
                }
            }
            return Optional.of(best);
        };
    }
}
