package dev.tenon.api.media;

/// How a picture fills a size of other proportions.
///
/// @param resampling how its pixels are made
/// @param letterbox whether it keeps its proportions, in the middle of a background; otherwise it is
///     stretched
/// @param background colour of the pixels around it, `0xRRGGBB`
public record Resizing(Resampling resampling, boolean letterbox, int background) {
    /// {@return the resizing that does not keep proportions}
    ///
    /// @param resampling how pixels are made
    public static Resizing stretch(Resampling resampling) {
        return new Resizing(resampling, false, 0);
    }

    /// {@return the resizing that keeps proportions}
    ///
    /// @param resampling how pixels are made
    /// @param background colour around the picture, `0xRRGGBB`
    public static Resizing letterbox(Resampling resampling, int background) {
        return new Resizing(resampling, true, background);
    }

    /// {@return the same without keeping proportions}
    public Resizing stretched() {
        return stretch(resampling);
    }

    /// Resizes a picture.
    ///
    /// @param picture the picture
    /// @param wanted the size
    /// @return a picture of that size
    /// @throws IllegalArgumentException if the size is too large for a picture
    public Picture resize(Picture picture, Size wanted) {
        if (!letterbox || picture.size().equals(wanted)) {
            return resampling.resize(picture, wanted);
        }
        float scale = Math.min(
                (float) wanted.width() / picture.size().width(),
                (float) wanted.height() / picture.size().height());
        Size inner = new Size(
                scaled(picture.size().width(), scale, wanted.width()),
                scaled(picture.size().height(), scale, wanted.height()));
        Picture resized = resampling.resize(picture, inner);
        return inner.equals(wanted)
                ? resized
                : resized.on(
                        wanted,
                        (wanted.width() - inner.width()) / 2,
                        (wanted.height() - inner.height()) / 2,
                        background);
    }

    private static int scaled(int length, float scale, int most) {
        return Math.min((int) Math.ceil(length * scale), most);
    }
}
