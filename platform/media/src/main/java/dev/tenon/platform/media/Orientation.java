package dev.tenon.platform.media;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;

/// How a camera was held: numbers of EXIF, 1 to 8.
final class Orientation {
    private static final int TAG = 0x0112;
    private static final int SHORT = 3;

    private Orientation() {}

    /// {@return the number of an EXIF segment; 1 if it has none, or is damaged: pixels do without}
    static int ofExif(FileBytes exif) {
        if (exif.startsWith("Exif\0\0")) {
            exif.skip(6);
        }
        boolean little = exif.startsWith("II*\0");
        if (!little && !exif.startsWith("MM\0*")) {
            return 1;
        }
        int start = exif.place();
        int end = start + exif.left();
        byte[] bytes = exif.array();
        long directory = number(bytes, start + 4, 4, little);
        if (exif.left() < 8 || directory > exif.left() - 2) {
            return 1;
        }
        int at = start + (int) directory;
        long entries = number(bytes, at, 2, little);
        for (int i = 0; i < entries && at + 2 + (i + 1) * 12 <= end; i++) {
            int entry = at + 2 + i * 12;
            if (number(bytes, entry, 2, little) == TAG && number(bytes, entry + 2, 2, little) == SHORT) {
                int value = (int) number(bytes, entry + 8, 2, little);
                return value >= 1 && value <= 8 ? value : 1;
            }
        }
        return 1;
    }

    private static long number(byte[] bytes, int at, int length, boolean little) {
        long value = 0;
        for (int i = 0; i < length && at + length <= bytes.length; i++) {
            value = value << 8 | bytes[little ? at + length - 1 - i : at + i] & 0xff;
        }
        return value;
    }

    /// {@return the picture as it was seen}
    static Picture upright(Picture picture, int orientation) {
        if (orientation == 1) {
            return picture;
        }
        Size size = picture.size();
        int right = size.width() - 1;
        int bottom = size.height() - 1;
        Size turned = orientation < 5 ? size : new Size(size.height(), size.width());
        return Picture.of(turned, (y, rgb) -> {
            for (int x = 0; x < turned.width(); x++) {
                int column = switch (orientation) {
                    case 2, 3 -> right - x;
                    case 4 -> x;
                    case 5, 6 -> y;
                    default -> right - y;
                };
                int row = switch (orientation) {
                    case 2 -> y;
                    case 3, 4 -> bottom - y;
                    case 5, 8 -> x;
                    default -> bottom - x;
                };
                for (int channel = 0; channel < 3; channel++) {
                    rgb[x * 3 + channel] = (byte) picture.sample(column, row, channel);
                }
            }
        });
    }
}
