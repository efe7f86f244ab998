package dev.tenon.platform.media;

import dev.tenon.api.media.Size;

/// The chunks of a PNG.
final class PngHeader {
    private PngHeader() {}

    static PictureHeader read(FileBytes file) {
        file.skip(8);
        Size size = null;
        int frames = 1;
        int orientation = 1;
        boolean pixels = false;
        while (true) {
            long length = file.u32();
            String type = file.text(4);
            FileBytes chunk = file.part(length);
            file.skip(4); // checksum
            if (size == null != type.equals("IHDR")) {
                throw MediaException.damaged(file.what(), "chunk " + type + " where IHDR comes first, and once");
            }
            switch (type) {
                case "IHDR" -> size = PictureHeader.size(file.what(), chunk.u32(), chunk.u32());
                case "acTL" -> frames = (int) Math.min(Integer.MAX_VALUE, chunk.u32());
                case "eXIf" -> orientation = Orientation.ofExif(chunk);
                case "IDAT" -> pixels = true;
                case "IEND" -> {
                    if (!pixels) {
                        throw MediaException.damaged(file.what(), "no chunk IDAT");
                    }
                    return PictureHeader.of(PictureFormat.PNG, size, frames, orientation);
                }
                default -> {}
            }
        }
    }
}
