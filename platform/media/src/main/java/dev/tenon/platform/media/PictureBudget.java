package dev.tenon.platform.media;

/// What a file of a picture may ask for. All of it is checked before anything is decoded, and decoding
/// takes up to 16 bytes of memory for each pixel.
///
/// @param maxBytes most bytes of the file
/// @param maxPixels most pixels
/// @param maxRatio most times that a side is as long as the other
/// @param maxFrames most frames, of which the first is read
public record PictureBudget(long maxBytes, long maxPixels, int maxRatio, int maxFrames) {
    /// Passes over a JPEG, each of which touches every pixel; files of cameras and programs have about 10.
    static final int MAX_SCANS = 40;

    /// {@return 32 MiB, 64 million pixels, sides of 1 to 200, 1000 frames}
    public static PictureBudget defaults() {
        return new PictureBudget(32 << 20, 64_000_000, 200, 1000);
    }

    void checkBytes(String what, long bytes) {
        if (bytes > maxBytes) {
            throw MediaException.budget(what, bytes + " bytes", maxBytes + "", "Make it smaller");
        }
    }

    void check(String what, PictureHeader header) {
        int width = header.screen().width();
        int height = header.screen().height();
        String size = width + " x " + height + " pixels";
        if (header.screen().pixels() > maxPixels) {
            throw MediaException.budget(what, size, maxPixels + " in all", "Scale it down");
        }
        if (Math.max(width, height) > (long) maxRatio * Math.min(width, height)) {
            throw MediaException.budget(what, size, "1 to " + maxRatio + " as ratio of its sides", "Cut it");
        }
        if (header.frames() > maxFrames) {
            throw MediaException.budget(what, header.frames() + " frames", maxFrames + "", "Send a single one");
        }
        if (header.jpeg() != null && header.jpeg().scans() > MAX_SCANS) {
            throw MediaException.damaged(what, header.jpeg().scans() + " scans; expected at most " + MAX_SCANS);
        }
    }
}
