package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.Model;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

/// Pictures of messages, by a tiny model that was not trained.
class MediaTests {
    private static final Path TEXT = Path.of("../../itest/golden/src/test/resources/golden/vision/gemma3.text.gguf");
    private static final Path COMPANION = TEXT.resolveSibling("gemma3.mmproj.gguf");
    private static final String TEMPLATE = """
            {{ bos_token }}{% for message in messages %}<{{ message.role }}>
            {{ message.content }}
            {% endfor %}<assistant>
            """;

    @TempDir
    static Path folder;

    private static Path model;
    private static byte[] red;
    private static byte[] blue;

    @BeforeAll
    static void write() throws IOException {
        try (GgufFile text = GgufReader.open(TEXT, TensorTypes.standard())) {
            model = new TinyGguf() // the golden file has no template
                    .addAll(text)
                    .put("tokenizer.chat_template", GgufValue.of(TEMPLATE))
                    .write(folder.resolve("seeing.gguf"));
        }
        red = picture(0xff0000);
        blue = picture(0x0000ff);
    }

    private static byte[] picture(int color) throws IOException {
        BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        image.setRGB(3, 3, color);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, "png", out);
        return out.toByteArray();
    }

    private static Media png(byte[] bytes) {
        return new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(bytes));
    }

    private static void run(boolean sees, Consumer<TenonChatModel> test) {
        run(sees, COMPANION.toString(), test);
    }

    private static void run(boolean sees, String companion, Consumer<TenonChatModel> test) {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(TenonAutoConfiguration.class, TenonChatAutoConfiguration.class))
                .withPropertyValues("tenon.model=" + model);
        if (sees) {
            runner = runner.withPropertyValues("tenon.companion=" + companion);
        }
        runner.run(beans -> {
            assertThat(beans.getBean(Model.class).loaded().media()).hasSize(sees ? 1 : 0);
            test.accept(beans.getBean(TenonChatModel.class));
        });
    }

    private static Prompt prompt(Media... media) {
        return new Prompt(
                UserMessage.builder().text("What is it?").media(media).build(),
                TenonChatOptions.builder().temperature(0.0).maxTokens(10).build());
    }

    private static String text(ChatResponse response) {
        return Objects.requireNonNull(
                Objects.requireNonNull(response.getResult()).getOutput().getText());
    }

    private static int tokens(ChatResponse response) {
        return response.getMetadata().getUsage().getPromptTokens();
    }

    @Test
    void picturesArePartsOfTheAnswer() {
        run(true, chat -> {
            ChatResponse without = chat.call(prompt());
            ChatResponse one = chat.call(prompt(png(red)));
            ChatResponse two = chat.call(prompt(png(red), png(blue)));
            assertThat(tokens(one)).isGreaterThan(tokens(without) + 8);
            assertThat(tokens(two) - tokens(without)).isEqualTo(2 * (tokens(one) - tokens(without)));
            assertThat(text(chat.call(prompt(png(red))))).isEqualTo(text(one));
            List<ChatResponse> parts = Objects.requireNonNull(
                    chat.stream(prompt(png(red))).collectList().block());
            assertThat(parts.stream()
                            .map(part -> Objects.requireNonNull(part.getResult())
                                    .getOutput()
                                    .getText())
                            .filter(Objects::nonNull)
                            .collect(Collectors.joining()))
                    .isEqualTo(text(one));
        });
    }

    @Test
    void addressesAreFilesOrData() throws IOException {
        URI file = Files.write(folder.resolve("red.png"), red).toUri();
        URI data = URI.create("data:image/png;base64," + Base64.getEncoder().encodeToString(red));
        run(true, chat -> {
            String expected = text(chat.call(prompt(png(red))));
            for (URI address : List.of(file, data)) {
                assertThat(text(chat.call(prompt(new Media(MimeTypeUtils.IMAGE_PNG, address)))))
                        .isEqualTo(expected);
            }
            Media web = new Media(MimeTypeUtils.IMAGE_PNG, URI.create("https://example.org/cat.png"));
            assertThatThrownBy(() -> chat.call(prompt(web)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'https:'");
        });
    }

    @Test
    void theCompanionBesideTheModelIsTaken() throws IOException {
        Path beside = Files.copy(COMPANION, folder.resolve("mmproj-seeing.gguf"));
        run(
                true,
                "auto",
                chat -> assertThat(tokens(chat.call(prompt(png(red))))).isGreaterThan(tokens(chat.call(prompt())) + 8));
        Files.delete(beside);
    }

    @Test
    void whatTheModelDoesNotTakeIsRefused() {
        Media sound = new Media(MimeType.valueOf("audio/wav"), new ByteArrayResource(new byte[44]));
        run(true, chat -> {
            assertThatThrownBy(() -> chat.call(prompt(sound)))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContaining("sounds");
            assertThatThrownBy(() -> chat.call(prompt(png(new byte[9])))).hasMessageContaining("MEDIA-001");
        });
        run(false, chat -> {
            assertThatThrownBy(() -> chat.call(prompt(png(red))))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContaining("pictures");
            assertThatThrownBy(() -> chat.stream(prompt(png(red))).blockLast()).hasMessageContaining("pictures");
        });
    }
}
