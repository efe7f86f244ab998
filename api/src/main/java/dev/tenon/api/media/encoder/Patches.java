package dev.tenon.api.media.encoder;

import dev.tenon.api.media.Normalisation;
import dev.tenon.api.media.Picture;
import java.util.ArrayList;
import java.util.List;

/// The patches of a picture, as rows that [VisionBlocks] reads. Immutable; safe for any thread.
public final class Patches {
    /// Gives what is added to the embedding of a patch.
    @FunctionalInterface
    public interface Addend {
        /// Adds to a row.
        ///
        /// @param column of the patch
        /// @param row of the patch
        /// @param to the row, of which elements from `at` on are added
        /// @param at its first element
        void add(int column, int row, float[] to, int at);
    }

    private final float[] samples;
    private final int side;
    private final int columns;
    private final int rows;

    /// Normalises a picture.
    ///
    /// @param picture sides are multiples of a patch's
    /// @param keys of the companion file
    /// @throws IllegalArgumentException if they are not
    public Patches(Picture picture, VisionKeys keys) {
        this(picture, keys.patch(), keys.normalisation());
    }

    /// Normalises a picture in a way of its own.
    ///
    /// @param picture sides are multiples of a patch's
    /// @param side pixels along a side of a patch
    /// @param normalisation of samples
    /// @throws IllegalArgumentException if they are not
    public Patches(Picture picture, int side, Normalisation normalisation) {
        this.side = side;
        if (picture.size().width() % side != 0 || picture.size().height() % side != 0) {
            throw new IllegalArgumentException(picture + " in patches of " + side + " pixels; expected whole patches");
        }
        this.samples = normalisation.apply(picture);
        this.columns = picture.size().width() / side;
        this.rows = picture.size().height() / side;
    }

    /// {@return patches beside each other}
    public int columns() {
        return columns;
    }

    /// {@return patches above each other}
    public int rows() {
        return rows;
    }

    /// {@return columns and rows of the patches, block by block of `n * n`, row by row in each; row by row of the
    ///     picture for 1}
    ///
    /// @param n patches along a side of a block
    public List<int[]> inBlocks(int n) {
        List<int[]> order = new ArrayList<>();
        for (int y = 0; y < rows; y += n) {
            for (int x = 0; x < columns; x += n) {
                for (int i = 0; i < n * n; i++) {
                    order.add(new int[] {x + i % n, y + i / n});
                }
            }
        }
        return order;
    }

    /// {@return the row of a token that is no patch: no samples, then the sum of two rows}
    ///
    /// @param added such as the embedding of a class
    /// @param table a table of positions
    /// @param row which row of it is the other one
    public float[] blank(float[] added, float[] table, int row) {
        float[] blank = new float[3 * side * side + added.length];
        for (int e = 0; e < added.length; e++) {
            blank[3 * side * side + e] = added[e] + table[row * added.length + e];
        }
        return blank;
    }

    /// {@return where some patches stand: row, then column}
    ///
    /// @param order columns and rows of the patches
    public static List<int[]> places(List<int[]> order) {
        return order.stream().map(at -> new int[] {at[1], at[0]}).toList();
    }

    /// {@return the rows of some patches: their samples alone}
    ///
    /// @param order columns and rows of the patches
    public List<float[]> rows(List<int[]> order) {
        return rows(order, 0, (column, row, to, at) -> {});
    }

    /// {@return the rows of some patches: their samples, then what is added}
    ///
    /// @param order columns and rows of the patches
    /// @param width elements of what is added
    /// @param addend gives it
    public List<float[]> rows(List<int[]> order, int width, Addend addend) {
        int pixels = 3 * side * side;
        List<float[]> all = new ArrayList<>();
        for (int[] place : order) {
            float[] row = new float[pixels + width];
            for (int i = 0; i < pixels; i++) {
                int channel = i / (side * side);
                int y = place[1] * side + i / side % side;
                int x = place[0] * side + i % side;
                row[i] = samples[(y * columns * side + x) * 3 + channel];
            }
            addend.add(place[0], place[1], row, pixels);
            all.add(row);
        }
        return all;
    }
}
