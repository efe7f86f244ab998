package dev.tenon;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import javax.imageio.ImageIO;

/// A tiny model that takes pictures. It was not trained.
final class Seeing {
    static final Path COMPANION = Path.of("../../itest/golden/src/test/resources/golden/vision/gemma3.mmproj.gguf");
    private static final Path TEXT = COMPANION.resolveSibling("gemma3.text.gguf");
    private static final String TEMPLATE = """
            {{ bos_token }}{% for message in messages %}<{{ message.role }}>
            {{ message.content }}
            {% endfor %}<assistant>
            """;

    private Seeing() {}

    /// Writes the file of the model, with a template, which the golden one has not.
    static Path write(Path file) throws IOException {
        try (GgufFile text = GgufReader.open(TEXT, TensorTypes.standard())) {
            return new TinyGguf()
                    .addAll(text)
                    .put("tokenizer.chat_template", GgufValue.of(TEMPLATE))
                    .write(file);
        }
    }

    /// Writes a picture.
    static Path picture(Path file, int color) throws IOException {
        BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 40 * 30; i++) {
            image.setRGB(i % 40, i / 40, color * (i % 40) / 40);
        }
        ImageIO.write(image, "png", file.toFile());
        return file;
    }
}
