package dev.tenon.platform.media;

import dev.tenon.api.media.Size;

/// The blocks of a GIF.
final class GifHeader {
    private GifHeader() {}

    static PictureHeader read(FileBytes file) {
        file.skip(6);
        Size screen = PictureHeader.size(file.what(), file.u16Little(), file.u16Little());
        int flags = file.u8();
        file.skip(2);
        skipColours(file, flags);
        PictureHeader first = null;
        int frames = 0;
        // What is missing after the first frame does not matter.
        while (first == null || file.left() > 0) {
            int block = file.u8();
            if (block == 0x3b) {
                break;
            } else if (block == 0x21) {
                file.skip(1);
            } else if (block == 0x2c) {
                int x = file.u16Little();
                int y = file.u16Little();
                Size frame = PictureHeader.size(file.what(), file.u16Little(), file.u16Little());
                if (x + frame.width() > screen.width() || y + frame.height() > screen.height()) {
                    throw MediaException.damaged(
                            file.what(),
                            "a frame of " + frame.width() + " x " + frame.height() + " at " + x + ", " + y
                                    + " on a screen of " + screen.width() + " x " + screen.height());
                }
                skipColours(file, file.u8());
                file.skip(1);
                frames++;
                if (first == null) {
                    first = new PictureHeader(PictureFormat.GIF, screen, frame, x, y, 1, 1, null);
                }
            } else if (first == null) {
                throw MediaException.damaged(file.what(), "block " + block + " at byte " + (file.place() - 1));
            } else {
                break;
            }
            if (!skipBlocks(file, frames > 1)) {
                break;
            }
        }
        if (first == null) {
            throw MediaException.damaged(file.what(), "no frame");
        }
        return new PictureHeader(PictureFormat.GIF, screen, first.frame(), first.x(), first.y(), frames, 1, null);
    }

    private static void skipColours(FileBytes file, int flags) {
        if ((flags & 0x80) != 0) {
            file.skip(3L << (flags & 7) + 1);
        }
    }

    /// Skips the data of a block.
    ///
    /// @param mayEnd whether the file may end in it
    /// @return whether it did not
    private static boolean skipBlocks(FileBytes file, boolean mayEnd) {
        while (true) {
            if (mayEnd && file.left() == 0) {
                return false;
            }
            int length = file.u8();
            if (length == 0) {
                return true;
            }
            if (mayEnd && file.left() < length) {
                return false;
            }
            file.skip(length);
        }
    }
}
