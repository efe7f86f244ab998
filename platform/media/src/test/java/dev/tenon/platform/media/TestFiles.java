package dev.tenon.platform.media;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/// Files of the tests.
final class TestFiles {
    static final List<String> PICTURES = List.of(
            "alpha.png",
            "deep16.png",
            "grey.png",
            "line.png",
            "palette.png",
            "square.png",
            "wide.png",
            "exif.jpg",
            "progressive.jpg",
            "subsampled.jpg",
            "grey.jpg",
            "cmyk.jpg",
            "lossless.webp",
            "grey.webp",
            "lossy.webp",
            "alpha.webp",
            "frames.webp",
            "palette.gif",
            "frames.gif",
            "small.bmp",
            "palette.bmp");

    private TestFiles() {}

    static byte[] read(String name) {
        try (InputStream in = TestFiles.class.getResourceAsStream("/media/" + name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(name, e);
        }
    }
}
