package dev.tenon.api.media;

/// Width and height of a picture.
///
/// @param width pixels, at least 1
/// @param height pixels, at least 1
public record Size(int width, int height) {
    /// Checks the sides.
    public Size {
        if (width < 1 || height < 1) {
            throw new IllegalArgumentException(
                    "a size of " + width + " x " + height + " pixels; expected 1 x 1 or more");
        }
    }

    /// {@return the number of pixels}
    public long pixels() {
        return (long) width * height;
    }
}
