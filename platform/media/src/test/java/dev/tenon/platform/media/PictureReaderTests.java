package dev.tenon.platform.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Resizing;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.SizeRule;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PictureReaderTests {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final PictureReader READER = new PictureReader(PictureBudget.defaults(), false);

    /// The digests are those of the pixels that stb_image decodes.
    @Test
    void pixelsOfPngAreEqual() throws Exception {
        for (String line : new String(TestFiles.read("png.txt"), StandardCharsets.UTF_8)
                .lines()
                .toList()) {
            String name = line.substring(0, line.indexOf(' '));
            byte[] rgb = READER.read(TestFiles.read(name), name).rgb();
            assertEquals(line.substring(line.indexOf(' ') + 1), digest(rgb), name);
        }
    }

    /// Colours of a WebP with losses are stored for four pixels; other decoders smooth them.
    @ParameterizedTest
    @CsvSource({
        "small.bmp, small.rgb, 0",
        "palette.bmp, palette.gif.rgb, 0",
        "palette.gif, palette.gif.rgb, 0",
        "frames.gif, palette.gif.rgb, 0",
        "lossless.webp, small.rgb, 0",
        "frames.webp, small.rgb, 0",
        "exif.jpg, exif.rgb, 3",
        "progressive.jpg, progressive.jpg.rgb, 3",
        "subsampled.jpg, subsampled.jpg.rgb, 3",
        "grey.jpg, grey.jpg.rgb, 3",
        "cmyk.jpg, cmyk.jpg.rgb, 3",
        "ycck.jpg, ycck.jpg.rgb, 3",
        "grey.webp, grey.webp.rgb, 1",
        "lossy.webp, lossy.webp.rgb, 8",
        "alpha.webp, alpha.webp.rgb, 8"
    })
    void pixelsAreThoseOfOtherDecoders(String file, String pixels, int tolerance) {
        byte[] found = READER.read(TestFiles.read(file), file).rgb();
        byte[] expected = TestFiles.read(pixels);
        assertEquals(expected.length, found.length);
        int worst = 0;
        for (int i = 0; i < found.length; i++) {
            worst = Math.max(worst, Math.abs((found[i] & 0xff) - (expected[i] & 0xff)));
        }
        assertTrue(worst <= tolerance, "off by " + worst);
    }

    /// A picture that is large enough for lfm2's tiles, from the file to the pieces.
    @Test
    void tilesOfAFileAreEqual() throws Exception {
        long token = 32 * 32;
        SizeRule rounded = SizeRule.nearestEven(32, 16);
        Size tile = new Size(512, 512);
        PictureRule rule = PictureRule.of(
                        SizeRule.smart(32, 64 * token, 256 * token), Resizing.stretch(Resampling.BILINEAR))
                .tiled(
                        GridRule.closest(2, 10, tile)
                                .when(size -> rounded.of(size).pixels() > 512 * token),
                        tile,
                        Resizing.letterbox(Resampling.BILINEAR, 0));
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        rule.apply(READER.read(TestFiles.read("big.png"), "big.png")).forEach(piece -> digest.update(piece.rgb()));
        assertEquals(
                "408e2fe4eb02ae618d1cec2936d8be3e826e3f358123b1af6652eb5cf6e6bb7d",
                HexFormat.of().formatHex(digest.digest()));
    }

    @Test
    void orientationIsASwitch() {
        Picture stored = READER.read(TestFiles.read("exif.jpg"), "exif.jpg");
        Picture seen = new PictureReader(PictureBudget.defaults(), true).read(TestFiles.read("exif.jpg"), "exif.jpg");
        assertEquals(new Size(29, 18), stored.size());
        assertEquals(new Size(18, 29), seen.size());
        assertEquals(Orientation.upright(stored, 6), seen);
    }

    /// Where the first pixel and the last one of the first row go.
    @ParameterizedTest
    @CsvSource({
        "1, 0, 0, 2, 0", "2, 2, 0, 0, 0", "3, 2, 1, 0, 1", "4, 0, 1, 2, 1",
        "5, 0, 0, 0, 2", "6, 1, 0, 1, 2", "7, 1, 2, 1, 0", "8, 0, 2, 0, 0"
    })
    void orientationsTurn(int orientation, int x, int y, int lastX, int lastY) {
        Picture picture = Picture.of(new Size(3, 2), (row, rgb) -> {
            for (int i = 0; i < rgb.length; i++) {
                rgb[i] = (byte) (row * 10 + i / 3);
            }
        });
        Picture turned = Orientation.upright(picture, orientation);
        assertEquals(0, turned.sample(x, y, 0));
        assertEquals(2, turned.sample(lastX, lastY, 0));
    }

    /// A file of 1 MB that says it is 60,000 x 60,000 costs nothing.
    @ParameterizedTest
    @CsvSource({
        "wide.png, 16, 00 00 ea 60 00 00 ea 60",
        "exif.jpg, -1, ea 60 ea 60",
        "palette.gif, 6, 60 ea 60 ea",
        "small.bmp, 18, 60 ea 00 00 60 ea 00 00",
        "frames.webp, 24, 5f ea 00 5f ea 00"
    })
    void hugeSizesAreRefusedAtTheHeader(String name, int place, String numbers) {
        byte[] file = Arrays.copyOf(TestFiles.read(name), 1 << 20);
        byte[] size = HexFormat.ofDelimiter(" ").parseHex(numbers);
        System.arraycopy(size, 0, file, place < 0 ? frame(file) + 5 : place, size.length);
        if (name.endsWith("bmp")) {
            file[30] = 1; // run lengths, which have no length of their own
        }
        long before = THREADS.getCurrentThreadAllocatedBytes();
        MediaException refused = assertThrows(MediaException.class, () -> READER.read(file, name));
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertEquals(MediaException.BUDGET, refused.code(), refused.getMessage());
        assertTrue(
                refused.getMessage().contains("60000 x 60000 pixels; expected at most 64000000"), refused.getMessage());
        assertTrue(allocated < 1 << 20, allocated + " bytes");
    }

    private static int frame(byte[] jpeg) {
        int at = 2;
        while ((jpeg[at + 1] & 0xff) != 0xc0) {
            at += 2 + ((jpeg[at + 2] & 0xff) << 8 | jpeg[at + 3] & 0xff);
        }
        return at;
    }

    @Test
    void whatExceedsTheBudgetIsRefused() {
        PictureBudget budget = new PictureBudget(9_000, 6_599, 36, 2);
        PictureReader reader = new PictureReader(budget, true);
        assertRefused(MediaException.BUDGET, "10178 bytes; expected at most 9000", reader, "square.png");
        assertRefused(MediaException.BUDGET, "150 x 44 pixels; expected at most 6599", reader, "wide.png");
        assertRefused(MediaException.BUDGET, "1 x 37 pixels; expected at most 1 to 36", reader, "line.png");
        assertRefused(MediaException.BUDGET, "3 frames; expected at most 2", reader, "frames.gif");
        assertRefused(MediaException.BUDGET, "3 frames; expected at most 2", reader, "frames.webp");
    }

    @ParameterizedTest
    @ValueSource(strings = {"wide.png", "exif.jpg", "progressive.jpg", "lossy.webp", "palette.gif", "small.bmp"})
    void cutFilesAreDamaged(String name) {
        byte[] file = TestFiles.read(name);
        byte[] half = Arrays.copyOf(file, file.length * 2 / 3);
        MediaException refused = assertThrows(MediaException.class, () -> READER.read(half, name));
        assertEquals(MediaException.DAMAGED, refused.code(), refused.getMessage());
        assertTrue(refused.getMessage().contains(name), refused.getMessage());
    }

    @Test
    void whatIsNoPictureIsRefused() {
        for (String text : new String[] {"", "BM", "%PDF-1.7", "GIF88a", "RIFF....WAVE"}) {
            byte[] file = text.getBytes(StandardCharsets.UTF_8);
            MediaException refused = assertThrows(MediaException.class, () -> READER.read(file, "a file"));
            assertTrue(
                    refused.code().equals(text.equals("BM") ? MediaException.DAMAGED : MediaException.UNSUPPORTED),
                    refused.getMessage());
        }
        assertEquals(
                ErrorCode.IO,
                assertThrows(MediaException.class, () -> READER.read(Path.of("missing.png")))
                        .code());
    }

    @Test
    void endlessScansAreRefused() {
        byte[] file = TestFiles.read("progressive.jpg");
        int scan = lastScan(file);
        byte[] end = Arrays.copyOfRange(file, scan, file.length - 2);
        byte[] many = Arrays.copyOf(file, file.length + end.length * 50);
        for (int i = 0; i < 50; i++) {
            System.arraycopy(end, 0, many, file.length - 2 + i * end.length, end.length);
        }
        many[many.length - 2] = -1;
        many[many.length - 1] = (byte) 0xd9;
        MediaException refused = assertThrows(MediaException.class, () -> READER.read(many, "scans"));
        assertTrue(refused.getMessage().contains("scans; expected at most 40"), refused.getMessage());
    }

    private static int lastScan(byte[] jpeg) {
        int at = jpeg.length - 2;
        while (jpeg[at] != -1 || jpeg[at + 1] != (byte) 0xda) {
            at--;
        }
        return at;
    }

    /// 256 MB of text, compressed to 1 MB at most, beside the pixels.
    @ParameterizedTest
    @CsvSource({"zTXt, 6b 00 00", "iTXt, 6b 00 01 00 00 00", "iCCP, 6b 00 00"})
    void textThatUnfoldsIsSkipped(String type, String start) throws Exception {
        ByteArrayOutputStream chunk = new ByteArrayOutputStream();
        chunk.write(HexFormat.ofDelimiter(" ").parseHex(start));
        try (DeflaterOutputStream out = new DeflaterOutputStream(chunk)) {
            for (int i = 0; i < 256; i++) {
                out.write(new byte[1 << 20]);
            }
        }
        byte[] plain = TestFiles.read("wide.png");
        ByteBuffer file = ByteBuffer.allocate(plain.length + 12 + chunk.size());
        file.put(plain, 0, 33).putInt(chunk.size()).put(type.getBytes(StandardCharsets.UTF_8));
        file.put(chunk.toByteArray()).putInt(0).put(plain, 33, plain.length - 33);
        READER.read(plain, "to load classes");

        long before = THREADS.getCurrentThreadAllocatedBytes();
        assertEquals(READER.read(plain, "plain"), READER.read(file.array(), "with text"));
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 4 << 20, allocated + " bytes");
    }

    private static void assertRefused(String code, String text, PictureReader reader, String name) {
        MediaException refused = assertThrows(MediaException.class, () -> reader.read(TestFiles.read(name), name));
        assertEquals(code, refused.code());
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }

    private static String digest(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
