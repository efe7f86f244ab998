package dev.tenon.itest.golden;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;

/// The pictures of the golden files.
final class GoldenPictures {
    private GoldenPictures() {}

    static Picture picture(String name) {
        JsonNode of =
                GoldenData.json(GoldenData.file("vision/images/index.json")).get(name);
        try {
            byte[] samples = of.get("rgb").isNull()
                    ? decoded(GoldenData.file("vision/images/" + of.get("png").asText()))
                    : Files.readAllBytes(
                            GoldenData.file("vision/images/" + of.get("rgb").asText()));
            return Picture.of(new Size(of.get("width").asInt(), of.get("height").asInt()), samples);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] decoded(Path png) throws IOException {
        BufferedImage image = ImageIO.read(png.toFile());
        byte[] samples = new byte[3 * image.getWidth() * image.getHeight()];
        for (int i = 0; i < samples.length; i++) {
            int pixel = image.getRGB(i / 3 % image.getWidth(), i / 3 / image.getWidth());
            samples[i] = (byte) (pixel >> 8 * (2 - i % 3));
        }
        return samples;
    }
}
