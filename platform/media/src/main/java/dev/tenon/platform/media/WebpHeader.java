package dev.tenon.platform.media;

import dev.tenon.api.media.Size;

/// The chunks of a WebP.
final class WebpHeader {
    private WebpHeader() {}

    static PictureHeader read(FileBytes file) {
        file.skip(4);
        long length = file.u32Little();
        FileBytes riff = file.part(length);
        riff.skip(4);
        Size canvas = null;
        PictureHeader first = null;
        int frames = 0;
        int orientation = 1;
        while (riff.left() > 0) {
            String type = riff.text(4);
            long bytes = riff.u32Little();
            FileBytes chunk = riff.part(bytes);
            riff.skip(Math.min(bytes & 1, riff.left()));
            switch (type) {
                case "VP8X" -> {
                    chunk.skip(4);
                    canvas = PictureHeader.size(file.what(), chunk.u24Little() + 1L, chunk.u24Little() + 1L);
                }
                case "VP8 ", "VP8L" -> {
                    Size size = bitstream(type, chunk);
                    first = first == null ? place(file.what(), canvas == null ? size : canvas, size, 0, 0) : first;
                    frames++;
                }
                case "ANMF" -> {
                    if (first == null && canvas != null) {
                        first = frame(canvas, chunk);
                    }
                    frames++;
                }
                case "EXIF" -> orientation = Orientation.ofExif(chunk);
                default -> {}
            }
        }
        if (first == null) {
            throw MediaException.damaged(file.what(), "no picture");
        }
        return new PictureHeader(
                PictureFormat.WEBP, first.screen(), first.frame(), first.x(), first.y(), frames, orientation, null);
    }

    private static PictureHeader frame(Size canvas, FileBytes chunk) {
        int x = chunk.u24Little() * 2;
        int y = chunk.u24Little() * 2;
        Size size = PictureHeader.size(chunk.what(), chunk.u24Little() + 1L, chunk.u24Little() + 1L);
        chunk.skip(4);
        while (true) {
            String type = chunk.text(4);
            long bytes = chunk.u32Little();
            FileBytes inner = chunk.part(bytes);
            if (type.equals("VP8 ") || type.equals("VP8L")) {
                if (!bitstream(type, inner).equals(size)) {
                    throw MediaException.damaged(chunk.what(), "a frame of another size than it says");
                }
                return place(chunk.what(), canvas, size, x, y);
            }
            chunk.skip(bytes & 1);
        }
    }

    private static Size bitstream(String type, FileBytes chunk) {
        if (type.equals("VP8L")) {
            if (chunk.u8() != 0x2f) {
                throw MediaException.damaged(chunk.what(), "no signature of lossless pixels");
            }
            long bits = chunk.u32Little();
            return new Size((int) (bits & 0x3fff) + 1, (int) (bits >> 14 & 0x3fff) + 1);
        }
        chunk.skip(3);
        if (!chunk.text(3).equals("\u009d\u0001*")) {
            throw MediaException.damaged(chunk.what(), "no signature of a key frame");
        }
        return PictureHeader.size(chunk.what(), chunk.u16Little() & 0x3fff, chunk.u16Little() & 0x3fff);
    }

    private static PictureHeader place(String what, Size canvas, Size size, int x, int y) {
        if ((long) x + size.width() > canvas.width() || (long) y + size.height() > canvas.height()) {
            throw MediaException.damaged(
                    what,
                    "a frame of " + size.width() + " x " + size.height() + " at " + x + ", " + y + " on a canvas of "
                            + canvas.width() + " x " + canvas.height());
        }
        return new PictureHeader(PictureFormat.WEBP, canvas, size, x, y, 1, 1, null);
    }
}
