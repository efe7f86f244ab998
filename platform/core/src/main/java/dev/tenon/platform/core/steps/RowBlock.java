package dev.tenon.platform.core.steps;

import java.util.List;

/// Rows that stand one after the other in a sequence, each in the place of a token. Immutable.
public final class RowBlock {
    private final int[] tokens;
    private final List<float[]> rows;
    private final int columns;
    private final boolean together;

    /// @param tokens stand for the rows: below 0, of the content alone; never changed
    /// @param rows as many; never changed
    /// @param columns how many of them are a line; 0 if each stands where its position is
    /// @param together whether each sees all of them, and not only those before it
    public RowBlock(int[] tokens, List<float[]> rows, int columns, boolean together) {
        this.tokens = tokens;
        this.rows = List.copyOf(rows);
        this.columns = columns;
        this.together = together;
    }

    /// {@return how many rows there are}
    public int length() {
        return tokens.length;
    }

    /// {@return the token that stands for a row}
    ///
    /// @param index 0-based
    public int token(int index) {
        return tokens[index];
    }

    /// {@return a row; not to be changed}
    ///
    /// @param index 0-based
    public float[] row(int index) {
        return rows.get(index);
    }

    /// {@return elements of a row}
    public int width() {
        return rows.getFirst().length;
    }

    /// {@return how many of them are a line; 0 if each stands where its position is}
    int columns() {
        return columns;
    }

    /// {@return whether each row sees all of them}
    public boolean together() {
        return together;
    }

    /// {@return how many places of a text they take}
    int places() {
        return columns == 0 ? length() : Math.max(Math.ceilDiv(length(), columns), columns);
    }

    /// {@return where a row stands along the axes of time, height and width, counted from the block's first place}
    ///
    /// @param index 0-based
    int[] place(int index) {
        return columns == 0 ? new int[] {index, index, index} : new int[] {0, index / columns, index % columns};
    }
}
