package dev.tenon.platform.media;

import dev.tenon.api.media.Size;

/// The header of a BMP.
final class BmpHeader {
    private BmpHeader() {}

    static PictureHeader read(FileBytes file) {
        file.skip(10);
        long pixels = file.u32Little();
        long length = file.u32Little();
        if (length != 12 && length < 40) {
            throw MediaException.damaged(file.what(), "a header of " + length + " bytes");
        }
        boolean old = length == 12;
        long width = old ? file.u16Little() : (int) file.u32Little();
        long height = old ? file.u16Little() : Math.abs((long) (int) file.u32Little());
        Size size = PictureHeader.size(file.what(), width, height);
        file.skip(2);
        int bits = file.u16Little();
        long compression = old ? 0 : file.u32Little();
        if (compression == 4 || compression == 5) {
            throw MediaException.unsupported(
                    file.what(), "a BMP with a " + (compression == 4 ? "JPEG" : "PNG") + " inside", "pixels");
        }
        if (compression == 0 || compression == 3) {
            long bytes = (size.width() * (long) bits + 31) / 32 * 4 * size.height();
            if (pixels + bytes > file.array().length) {
                throw MediaException.damaged(file.what(), file.array().length + " bytes; expected " + (pixels + bytes));
            }
        }
        return PictureHeader.of(PictureFormat.BMP, size, 1, 1);
    }
}
