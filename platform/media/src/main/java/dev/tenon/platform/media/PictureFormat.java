package dev.tenon.platform.media;

import java.util.HexFormat;
import java.util.function.Function;

/// A kind of files of pictures.
enum PictureFormat {
    PNG(PngHeader::read),
    JPEG(JpegHeader::read),
    GIF(GifHeader::read),
    BMP(BmpHeader::read),
    WEBP(WebpHeader::read);

    private static final String EXPECTED = "PNG, JPEG, GIF, BMP or WebP";

    private final Function<FileBytes, PictureHeader> reader;

    PictureFormat(Function<FileBytes, PictureHeader> reader) {
        this.reader = reader;
    }

    PictureHeader header(FileBytes bytes) {
        return reader.apply(bytes);
    }

    /// {@return the kind that a file's first bytes tell}
    static PictureFormat of(FileBytes bytes) {
        if (bytes.startsWith("\u0089PNG\r\n\u001a\n")) {
            return PNG;
        }
        if (bytes.startsWith("\u00ff\u00d8\u00ff")) {
            return JPEG;
        }
        if (bytes.startsWith("GIF87a") || bytes.startsWith("GIF89a")) {
            return GIF;
        }
        if (bytes.startsWith("RIFF") && bytes.has(8, "WEBP")) {
            return WEBP;
        }
        if (bytes.startsWith("BM")) {
            return BMP;
        }
        throw MediaException.unsupported(
                bytes.what(),
                "no picture that is read, by its first bytes "
                        + HexFormat.of().formatHex(bytes.array(), 0, Math.min(8, bytes.left())),
                EXPECTED);
    }
}
