package dev.tenon.api.media;

import java.util.Arrays;
import java.util.Objects;

/// A picture of 8-bit samples. Immutable; safe for any thread.
///
/// Its rows go from top to bottom, the pixels of a row from left to right, a pixel is red, green and
/// blue.
public final class Picture {
    /// Writes the rows of a new picture.
    @FunctionalInterface
    public interface RowWriter {
        /// Writes one row. Called once for each, from top to bottom.
        ///
        /// @param y the row
        /// @param rgb `[width][3]`, to be filled; lent for the call
        void write(int y, byte[] rgb);
    }

    private final Size size;
    private final byte[] rgb;

    /// Keeps the array.
    Picture(Size size, byte[] rgb) {
        this.size = size;
        this.rgb = rgb;
    }

    /// Makes a picture of samples.
    ///
    /// @param size of at most 2³¹ / 3 pixels
    /// @param rgb `[height][width][3]`; copied
    /// @return a new picture
    /// @throws IllegalArgumentException if the array has another length
    public static Picture of(Size size, byte[] rgb) {
        if (rgb.length != size.pixels() * 3) {
            throw new IllegalArgumentException(rgb.length + " samples for " + size + "; expected " + size.pixels() * 3);
        }
        return new Picture(size, rgb.clone());
    }

    /// Makes a picture row by row.
    ///
    /// @param size of at most 2³¹ / 3 pixels
    /// @param rows fills them
    /// @return a new picture
    /// @throws IllegalArgumentException if the size is too large
    public static Picture of(Size size, RowWriter rows) {
        byte[] rgb = allocate(size);
        byte[] row = new byte[size.width() * 3];
        for (int y = 0; y < size.height(); y++) {
            rows.write(y, row);
            System.arraycopy(row, 0, rgb, y * row.length, row.length);
        }
        return new Picture(size, rgb);
    }

    static byte[] allocate(Size size) {
        if (size.pixels() > Integer.MAX_VALUE / 3) {
            throw new IllegalArgumentException(
                    size + " is too large for a picture; expected at most " + Integer.MAX_VALUE / 3 + " pixels");
        }
        return new byte[(int) size.pixels() * 3];
    }

    /// {@return width and height}
    public Size size() {
        return size;
    }

    /// Returns one sample.
    ///
    /// @param x column
    /// @param y row
    /// @param channel 0 red, 1 green, 2 blue
    /// @return 0 to 255
    /// @throws IndexOutOfBoundsException if there is no such sample
    public int sample(int x, int y, int channel) {
        Objects.checkIndex(x, size.width());
        Objects.checkIndex(y, size.height());
        Objects.checkIndex(channel, 3);
        return rgb[(y * size.width() + x) * 3 + channel] & 0xff;
    }

    /// {@return a copy of all samples, `[height][width][3]`}
    public byte[] rgb() {
        return rgb.clone();
    }

    /// The array itself, which nobody may change.
    byte[] samples() {
        return rgb;
    }

    /// Cuts out a part.
    ///
    /// @param x its first column
    /// @param y its first row
    /// @param part its size
    /// @return a new picture
    /// @throws IndexOutOfBoundsException if the part does not lie inside
    public Picture cut(int x, int y, Size part) {
        Objects.checkFromIndexSize(x, part.width(), size.width());
        Objects.checkFromIndexSize(y, part.height(), size.height());
        byte[] samples = new byte[(int) part.pixels() * 3];
        for (int row = 0; row < part.height(); row++) {
            int from = ((y + row) * size.width() + x) * 3;
            System.arraycopy(rgb, from, samples, row * part.width() * 3, part.width() * 3);
        }
        return new Picture(part, samples);
    }

    /// Puts this picture on a larger one of a single colour.
    Picture on(Size ground, int x, int y, int colour) {
        byte[] samples = allocate(ground);
        byte[] pixel = {(byte) (colour >> 16), (byte) (colour >> 8), (byte) colour};
        if (colour != 0) {
            for (int i = 0; i < samples.length; i++) {
                samples[i] = pixel[i % 3];
            }
        }
        for (int row = 0; row < size.height(); row++) {
            int to = ((y + row) * ground.width() + x) * 3;
            System.arraycopy(rgb, row * size.width() * 3, samples, to, size.width() * 3);
        }
        return new Picture(ground, samples);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Picture that && size.equals(that.size) && Arrays.equals(rgb, that.rgb);
    }

    @Override
    public int hashCode() {
        return 31 * size.hashCode() + Arrays.hashCode(rgb);
    }

    @Override
    public String toString() {
        return "Picture of " + size.width() + " x " + size.height();
    }
}
