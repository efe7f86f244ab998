package dev.tenon.platform.media;

import dev.tenon.api.media.Picture;
import java.io.IOException;
import java.nio.file.Path;

/// Reads files of pictures: PNG, JPEG (baseline and progressive; grey, YCbCr, RGB, CMYK, YCCK), WebP,
/// GIF and BMP; of several frames the first. Safe for any thread.
///
/// Transparency is dropped, not blended; of samples of 16 bits the upper byte is kept; grey goes to
/// all channels; profiles of colours are not applied. Pixels of a screen that the first frame leaves
/// free are black. Nothing is decoded before the header has kept to the budget. Needs the module
/// `java.desktop`.
public final class PictureReader {
    private final PictureBudget budget;
    private final boolean upright;

    /// Makes a reader.
    ///
    /// @param budget what files may ask for
    /// @param upright whether the orientation that EXIF states is applied
    public PictureReader(PictureBudget budget, boolean upright) {
        this.budget = budget;
        this.upright = upright;
    }

    /// Reads a file.
    ///
    /// @param file the file
    /// @return its picture
    /// @throws MediaException if it is not read, and why
    public Picture read(Path file) {
        return read("Picture " + file, bytes(file));
    }

    /// Reads the bytes of a file, whatever they are.
    ///
    /// @param file the file
    /// @return all of it
    /// @throws MediaException if there are too many, or it cannot be read
    public byte[] bytes(Path file) {
        String what = "Picture " + file;
        return MediaFile.read(what, file, bytes -> budget.checkBytes(what, bytes));
    }

    /// Reads the bytes of a file.
    ///
    /// @param name what messages call it
    /// @param file all of it; borrowed
    /// @return its picture
    /// @throws MediaException if it is not read, and why
    public Picture read(byte[] file, String name) {
        return read("Picture " + name, file);
    }

    private Picture read(String what, byte[] file) {
        budget.checkBytes(what, file.length);
        PictureHeader header = PictureHeader.read(what, file);
        budget.check(what, header);
        Picture picture = decode(what, header, file);
        return upright ? Orientation.upright(picture, header.orientation()) : picture;
    }

    private static Picture decode(String what, PictureHeader header, byte[] file) {
        try {
            return ImageDecoder.decode(header, file);
        } catch (IOException | RuntimeException e) {
            // Readers of the JDK fail with exceptions of any kind at what they do not expect.
            throw MediaException.damaged(what, "its pixels end early or are not understood (" + e + ")", e);
        } catch (LinkageError e) {
            throw new MediaException(
                    MediaException.UNSUPPORTED,
                    what + " is not read: this Java has no working module java.desktop. Use one that has.",
                    e);
        }
    }
}
