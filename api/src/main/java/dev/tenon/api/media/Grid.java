package dev.tenon.api.media;

import java.util.ArrayList;
import java.util.List;

/// Columns and rows of tiles that a picture is cut into.
///
/// @param columns tiles of a row, at least 1
/// @param rows rows of tiles, at least 1
public record Grid(int columns, int rows) {
    /// Checks the numbers.
    public Grid {
        if (columns < 1 || rows < 1) {
            throw new IllegalArgumentException(
                    "a grid of " + columns + " x " + rows + " tiles; expected 1 x 1 or more");
        }
    }

    /// {@return the number of tiles}
    public int tiles() {
        return columns * rows;
    }

    /// {@return the size of a picture of such tiles}
    ///
    /// @param tile size of one
    public Size of(Size tile) {
        return new Size(Math.multiplyExact(columns, tile.width()), Math.multiplyExact(rows, tile.height()));
    }

    /// {@return all grids of so many tiles, of few columns first, among them those of few rows}
    ///
    /// @param min least tiles, and least rows
    /// @param max most tiles
    public static List<Grid> ofTiles(int min, int max) {
        List<Grid> grids = new ArrayList<>();
        for (int columns = 1; columns <= max; columns++) {
            for (int rows = Math.max(min, 1); rows <= max / columns; rows++) {
                grids.add(new Grid(columns, rows));
            }
        }
        return List.copyOf(grids);
    }

    /// {@return all grids up to a number of columns and rows, except that of one tile, of few columns
    ///     first}
    ///
    /// @param columns most columns
    /// @param rows most rows
    public static List<Grid> upTo(int columns, int rows) {
        List<Grid> grids = new ArrayList<>();
        for (int column = 1; column <= columns; column++) {
            for (int row = 1; row <= rows; row++) {
                if (column * row > 1) {
                    grids.add(new Grid(column, row));
                }
            }
        }
        return List.copyOf(grids);
    }
}
