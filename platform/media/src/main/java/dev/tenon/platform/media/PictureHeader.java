package dev.tenon.platform.media;

import dev.tenon.api.media.Size;

/// What a file says of its picture before the pixels.
///
/// @param format its kind
/// @param screen size of the picture
/// @param frame size of the first frame, not larger
/// @param x where the frame lies on the screen
/// @param y where the frame lies on the screen
/// @param frames how many there are
/// @param orientation EXIF's, 1 to 8
/// @param jpeg what only a JPEG has, or null
record PictureHeader(
        PictureFormat format, Size screen, Size frame, int x, int y, int frames, int orientation, JpegColours jpeg) {

    /// What the samples of a JPEG mean.
    ///
    /// @param components 1, 3 or 4
    /// @param isYcc whether the first three are luminance and chrominance
    /// @param isInverted whether 0 is full ink, as Adobe writes
    /// @param scans passes over the pixels
    record JpegColours(int components, boolean isYcc, boolean isInverted, int scans) {}

    /// A picture of one frame.
    static PictureHeader of(PictureFormat format, Size size, int frames, int orientation) {
        return new PictureHeader(format, size, size, 0, 0, frames, orientation, null);
    }

    /// {@return a size that a file says}
    static Size size(String what, long width, long height) {
        if (width < 1 || height < 1 || width > Integer.MAX_VALUE || height > Integer.MAX_VALUE) {
            throw MediaException.damaged(what, "a size of " + width + " x " + height + " pixels");
        }
        return new Size((int) width, (int) height);
    }

    /// Reads the header of a file.
    static PictureHeader read(String what, byte[] file) {
        FileBytes bytes = new FileBytes(what, file);
        return PictureFormat.of(bytes).header(bytes);
    }
}
