package dev.tenon.platform.media;

import dev.tenon.api.media.Size;
import dev.tenon.platform.media.PictureHeader.JpegColours;

/// The segments of a JPEG.
final class JpegHeader {
    private final FileBytes file;
    private Size size;
    private int components;
    private boolean hasRgbNames;
    private boolean hasJfif;
    /// What an Adobe segment says of the colours; -1 without one.
    private int transform = -1;
    private int orientation = 1;
    private int scans;

    private JpegHeader(FileBytes file) {
        this.file = file;
    }

    static PictureHeader read(FileBytes file) {
        return new JpegHeader(file).read();
    }

    private PictureHeader read() {
        file.skip(2);
        for (int marker = marker(); marker != 0xd9; marker = marker()) {
            if (marker == 0x01 || marker >= 0xd0 && marker <= 0xd8) {
                continue; // markers without a segment
            }
            int length = file.u16();
            FileBytes segment = file.part(length - 2L);
            if (marker == 0xda) {
                if (size == null) {
                    throw MediaException.damaged(file.what(), "pixels before their size");
                }
                scans++;
                skipScan();
            } else if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
                frame(marker, segment);
            } else if (marker == 0xe0 && segment.startsWith("JFIF\0")) {
                hasJfif = true;
            } else if (marker == 0xe1 && segment.startsWith("Exif\0\0")) {
                orientation = Orientation.ofExif(segment);
            } else if (marker == 0xee && segment.startsWith("Adobe") && segment.left() >= 12) {
                segment.skip(11);
                transform = segment.u8();
            }
        }
        if (scans == 0) {
            throw MediaException.damaged(file.what(), "no pixels");
        }
        boolean isYcc = switch (components) {
            case 3 -> !hasRgbNames && (transform != 0 || hasJfif);
            case 4 -> transform == 2;
            default -> false;
        };
        JpegColours colours = new JpegColours(components, isYcc, transform >= 0, scans);
        return new PictureHeader(PictureFormat.JPEG, size, size, 0, 0, 1, orientation, colours);
    }

    private int marker() {
        if (file.u8() != 0xff) {
            throw MediaException.damaged(file.what(), "no marker at byte " + (file.place() - 1));
        }
        int marker = file.u8();
        while (marker == 0xff) {
            marker = file.u8();
        }
        return marker;
    }

    private void frame(int marker, FileBytes segment) {
        if (size != null) {
            throw MediaException.damaged(file.what(), "two sizes");
        }
        if (marker > 0xc2) {
            throw MediaException.unsupported(
                    file.what(),
                    "a lossless, hierarchical or arithmetic JPEG (SOF" + (marker - 0xc0) + ")",
                    "a baseline or progressive one");
        }
        int bits = segment.u8();
        int height = segment.u16();
        int width = segment.u16();
        size = PictureHeader.size(file.what(), width, height);
        components = segment.u8();
        if (bits != 8 || components != 1 && components != 3 && components != 4) {
            throw MediaException.unsupported(
                    file.what(), "a JPEG of " + components + " components of " + bits + " bits", "1, 3 or 4 of 8 bits");
        }
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < components; i++) {
            names.append(segment.text(1));
            segment.skip(2);
        }
        hasRgbNames = names.toString().equals("RGB");
    }

    /// Skips pixels: all until a marker that does not belong to them.
    private void skipScan() {
        byte[] bytes = file.array();
        int at = file.place();
        while (at + 1 < bytes.length && (bytes[at] != -1 || bytes[at + 1] == 0 || (bytes[at + 1] & 0xf8) == 0xd0)) {
            at++;
        }
        file.skip(at - file.place());
    }
}
