package dev.tenon.langchain4j;

import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.itest.testkit.models.ScriptedSampler;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A tiny model that takes pictures and was not trained, loaded once for all tests, and models by it whose answers are
/// scripted.
final class Seeing {
    private static final Path TEXT = Path.of("../../itest/golden/src/test/resources/golden/vision/gemma3.text.gguf");
    private static final String TEMPLATE = """
            {{ bos_token }}{% for message in messages %}<|im_start|>{{ message.role }}
            {{ message.content }}
            {% endfor %}<|im_start|>assistant{{ '\\n' }}
            """;

    /// Stays open until the JVM ends.
    static final Model MODEL = load();

    private static final ScriptedSampler RULES =
            new ScriptedSampler(MODEL.loaded().tokenizer(), "<eos>", new Rules("/rules.txt"));

    private Seeing() {}

    private static Model load() {
        try (GgufFile text = GgufReader.open(TEXT, TensorTypes.standard())) {
            Path file = Files.createTempFile("seeing", ".gguf");
            file.toFile().deleteOnExit();
            // The golden file has no template.
            new TinyGguf()
                    .addAll(text)
                    .put("tokenizer.chat_template", GgufValue.of(TEMPLATE))
                    .write(file);
            return Tenon.model(file.toString())
                    .companion(TEXT.resolveSibling("gemma3.mmproj.gguf"))
                    .load();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static TenonChatModel.Builder chat() {
        return TenonChatModel.builder().model(MODEL).request(request -> request.settings(s -> s.sampler(RULES)));
    }

    static TenonStreamingChatModel.Builder streaming() {
        return TenonStreamingChatModel.builder()
                .model(MODEL)
                .request(request -> request.settings(s -> s.sampler(RULES)));
    }
}
