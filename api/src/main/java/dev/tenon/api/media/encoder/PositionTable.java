package dev.tenon.api.media.encoder;

/// A square table of rows by position in a picture, made as large as the picture's grid of patches. Immutable; safe for
/// any thread.
public final class PositionTable {
    /// How the table is made larger or smaller.
    public enum Resize {
        /// Linear between neighbours, the corners of both grids on each other.
        ALIGNED {
            @Override
            double[] weights(int from, int to, int at) {
                double place = to == 1 ? 0 : (double) at * (from - 1) / (to - 1);
                double[] weights = new double[from];
                int first = Math.min((int) place, from - 1);
                weights[first] += 1 - (place - first);
                weights[Math.min(first + 1, from - 1)] += place - first;
                return weights;
            }
        },
        /// A triangle over the neighbours, wider where the grid is smaller than the table; middles on each other.
        ANTIALIASED {
            @Override
            double[] weights(int from, int to, int at) {
                double ratio = (double) from / to;
                double support = Math.max(1, ratio);
                double centre = (at + 0.5) * ratio;
                double[] weights = new double[from];
                double sum = 0;
                for (int i = 0; i < from; i++) {
                    weights[i] = Math.max(0, 1 - Math.abs(i + 0.5 - centre) / support);
                    sum += weights[i];
                }
                for (int i = 0; i < from; i++) {
                    weights[i] /= sum;
                }
                return weights;
            }
        },
        /// Cubic through four neighbours (a = -0.75), middles on each other, borders repeated.
        CUBIC {
            @Override
            double[] weights(int from, int to, int at) {
                double place = (at + 0.5) * from / to - 0.5;
                int first = (int) Math.floor(place);
                double[] weights = new double[from];
                for (int i = first - 1; i <= first + 2; i++) {
                    weights[Math.clamp(i, 0, from - 1)] += cubic(Math.abs(place - i));
                }
                return weights;
            }

            private double cubic(double x) {
                double a = -0.75;
                return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : a * (((x - 5) * x + 8) * x - 4);
            }
        };

        /// {@return the share of each of `from` rows in row `at` of `to`}
        abstract double[] weights(int from, int to, int at);
    }

    private final float[] values;
    private final int width;
    private final int columns;

    private PositionTable(float[] values, int width, int columns) {
        this.values = values;
        this.width = width;
        this.columns = columns;
    }

    /// Takes a table as it is.
    ///
    /// @param table `[rows * columns][width]`, row by row; shared
    /// @param width elements of a row
    /// @param columns patches beside each other
    public static PositionTable of(float[] table, int width, int columns) {
        return new PositionTable(table, width, columns);
    }

    /// Makes a table for a grid.
    ///
    /// @param table `[n * n][width]`, row by row; shared
    /// @param width elements of a row
    /// @param columns patches beside each other
    /// @param rows patches above each other
    /// @param how it is resized; not where the grid is as large as the table
    /// @return the table
    /// @throws IllegalArgumentException if the table is not square
    public static PositionTable of(float[] table, int width, int columns, int rows, Resize how) {
        int n = (int) Math.round(Math.sqrt((double) table.length / width));
        if (n * n * width != table.length) {
            throw new IllegalArgumentException(
                    table.length / width + " rows of positions; expected those of a square, such as " + n * n);
        }
        if (n == columns && n == rows) {
            return new PositionTable(table, width, n);
        }
        float[] resized = new float[columns * rows * width];
        for (int y = 0; y < rows; y++) {
            double[] down = how.weights(n, rows, y);
            for (int x = 0; x < columns; x++) {
                double[] along = how.weights(n, columns, x);
                add(table, n, width, along, down, resized, (y * columns + x) * width);
            }
        }
        return new PositionTable(resized, width, columns);
    }

    private static void add(float[] table, int n, int width, double[] along, double[] down, float[] to, int at) {
        double[] sum = new double[width];
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                double weight = down[j] * along[i];
                for (int e = 0; weight != 0 && e < width; e++) {
                    sum[e] += weight * table[(j * n + i) * width + e];
                }
            }
        }
        for (int e = 0; e < width; e++) {
            to[at + e] = (float) sum[e];
        }
    }

    /// {@return what adds the row of each patch, and another row}
    ///
    /// @param other added to all, such as the bias of the embedding
    public Patches.Addend and(float[] other) {
        return (column, row, to, at) -> {
            int from = (row * columns + column) * width;
            for (int e = 0; e < width; e++) {
                to[at + e] = values[from + e] + other[e];
            }
        };
    }
}
