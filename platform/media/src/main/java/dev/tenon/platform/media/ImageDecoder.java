package dev.tenon.platform.media;

import com.twelvemonkeys.imageio.plugins.webp.WebPImageReaderSpi;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Picture.RowWriter;
import dev.tenon.api.media.Size;
import dev.tenon.platform.media.PictureHeader.JpegColours;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.ComponentColorModel;
import java.awt.image.Raster;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import javax.imageio.IIOException;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;

/// Decodes pixels by readers of Image I/O, for which `java.desktop` has to be there.
final class ImageDecoder {
    private ImageDecoder() {}

    /// Decodes the first frame.
    ///
    /// @throws IOException, and exceptions of any kind, if the file is damaged
    static Picture decode(PictureHeader header, byte[] file) throws IOException {
        ImageReader reader = reader(header.format());
        try (FileStream in = new FileStream(file)) {
            reader.setInput(in, true, true);
            Size found = new Size(reader.getWidth(0), reader.getHeight(0));
            if (!found.equals(header.frame()) && !found.equals(header.screen())) {
                throw new IIOException("a size of " + found + " after one of " + header.frame());
            }
            Raster raster;
            RowWriter rows;
            if (header.jpeg() != null) {
                raster = reader.readRaster(0, null);
                rows = jpegRows(raster, header.jpeg());
            } else {
                BufferedImage image = reader.read(0);
                raster = image.getRaster();
                rows = rows(image.getColorModel(), raster);
            }
            Size size = new Size(raster.getWidth(), raster.getHeight());
            if (size.equals(header.screen())) {
                return Picture.of(size, rows);
            }
            if (!size.equals(header.frame())) {
                throw new IIOException("a frame of " + size + "; expected " + header.frame());
            }
            return Picture.of(header.screen(), onScreen(header, rows));
        } finally {
            reader.dispose();
        }
    }

    private static ImageReader reader(PictureFormat format) throws IOException {
        if (format == PictureFormat.WEBP) {
            return new WebPImageReaderSpi().createReaderInstance(null);
        }
        Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName(format.name());
        while (readers.hasNext()) {
            ImageReader reader = readers.next();
            // Others may be installed in the process, and behave otherwise.
            if (reader.getClass().getModule() == ImageIO.class.getModule()) {
                return reader;
            }
        }
        throw new NoClassDefFoundError("no reader of " + format);
    }

    /// A frame on a black screen.
    private static RowWriter onScreen(PictureHeader header, RowWriter rows) {
        byte[] frame = new byte[header.frame().width() * 3];
        return (y, rgb) -> {
            Arrays.fill(rgb, (byte) 0);
            int row = y - header.y();
            if (row >= 0 && row < header.frame().height()) {
                rows.write(row, frame);
                System.arraycopy(frame, 0, rgb, header.x() * 3, frame.length);
            }
        };
    }

    private static RowWriter rows(ColorModel colours, Raster raster) {
        int width = raster.getWidth();
        if (colours instanceof ComponentColorModel) {
            int[] samples = new int[width];
            int shift = Math.max(0, colours.getComponentSize(0) - 8);
            boolean grey = raster.getNumBands() < 3;
            return (y, rgb) -> {
                for (int channel = 0; channel < 3; channel++) {
                    raster.getSamples(0, y, width, 1, grey ? 0 : channel, samples);
                    for (int x = 0; x < width; x++) {
                        rgb[x * 3 + channel] = (byte) (samples[x] >> shift);
                    }
                }
            };
        }
        Object[] pixel = {null};
        return (y, rgb) -> {
            for (int x = 0; x < width; x++) {
                pixel[0] = raster.getDataElements(x, y, pixel[0]);
                int colour = colours.getRGB(pixel[0]);
                set(rgb, x, colour >> 16, colour >> 8, colour);
            }
        };
    }

    private static RowWriter jpegRows(Raster raster, JpegColours colours) {
        int bands = colours.components();
        if (raster.getNumBands() != bands) {
            throw new IllegalStateException(raster.getNumBands() + " bands; expected " + bands);
        }
        int[] row = new int[raster.getWidth() * bands];
        return (y, rgb) -> {
            raster.getPixels(0, y, raster.getWidth(), 1, row);
            for (int x = 0; x < raster.getWidth(); x++) {
                int red = row[x * bands];
                int green = bands == 1 ? red : row[x * bands + 1];
                int blue = bands == 1 ? red : row[x * bands + 2];
                if (colours.isYcc()) {
                    int luminance = red;
                    int cb = green - 128;
                    int cr = blue - 128;
                    red = clamp(luminance + 1.402 * cr);
                    green = clamp(luminance - 0.344136 * cb - 0.714136 * cr);
                    blue = clamp(luminance + 1.772 * cb);
                }
                if (bands == 4) {
                    // Inks: three that were red, green and blue before they were inverted, and black. Adobe stores the
                    // paper that is left.
                    boolean complement = !colours.isInverted() || colours.isYcc();
                    int paper = colours.isInverted() ? row[x * bands + 3] : 255 - row[x * bands + 3];
                    red = ink(red, complement, paper);
                    green = ink(green, complement, paper);
                    blue = ink(blue, complement, paper);
                }
                set(rgb, x, red, green, blue);
            }
        };
    }

    private static int ink(int value, boolean complement, int paper) {
        return ((complement ? 255 - value : value) * paper + 127) / 255;
    }

    private static int clamp(double value) {
        return Math.clamp(Math.round(value), 0, 255);
    }

    private static void set(byte[] rgb, int x, int red, int green, int blue) {
        rgb[x * 3] = (byte) red;
        rgb[x * 3 + 1] = (byte) green;
        rgb[x * 3 + 2] = (byte) blue;
    }
}
