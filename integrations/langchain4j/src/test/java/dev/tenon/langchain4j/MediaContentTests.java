package dev.tenon.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.tenon.Model;
import dev.tenon.api.chat.ChatTurn;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Pictures in messages, by a model that sees.
class MediaContentTests {
    private static final ImageContent RED = ImageContent.from(picture(0xff0000), "image/png");
    private static final ImageContent BLUE = ImageContent.from(picture(0x0000ff), "image/png");
    private static final TextContent QUESTION = TextContent.from("What is it?");

    @TempDir
    Path folder;

    private static String picture(int color) {
        BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        image.setRGB(0, 0, 40, 15, new int[40 * 15], 0, 40);
        image.setRGB(3, 3, color);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return Base64.getEncoder().encodeToString(out.toByteArray());
    }

    private static ChatResponse answer(Content... contents) {
        TenonChatModel chat = TenonChatModel.builder()
                .model(Seeing.MODEL)
                .request(request -> request.settings(s -> s.ignoreEndOfGeneration(true)))
                .build();
        return chat.chat(ChatRequest.builder()
                .messages(UserMessage.from(contents))
                .temperature(0.0)
                .maxOutputTokens(10)
                .build());
    }

    private static int tokens(ChatResponse response) {
        return response.tokenUsage().inputTokenCount();
    }

    @Test
    void picturesArePartsOfTheAnswer() {
        ChatResponse without = answer(QUESTION);
        ChatResponse one = answer(RED, QUESTION);
        ChatResponse two = answer(RED, BLUE, QUESTION);
        assertTrue(tokens(one) > tokens(without) + 8, one.tokenUsage().toString());
        assertEquals(2 * (tokens(one) - tokens(without)), tokens(two) - tokens(without));
        assertNotEquals(without.aiMessage().text(), one.aiMessage().text());
        assertEquals(one.aiMessage().text(), answer(RED, QUESTION).aiMessage().text());
    }

    @Test
    void contentsStandInTheirOrder() {
        ChatTurn turn = turn(TextContent.from("a"), TextContent.from("b"), RED, TextContent.from("c"), BLUE);
        assertEquals("a\nb\uFFFCc\uFFFC", turn.text());
        assertEquals(2, turn.media().size());
        assertNotEquals(turn.media().getFirst(), turn.media().getLast());
    }

    private static ChatTurn turn(Content... contents) {
        return new Conversation(Seeing.MODEL)
                .turns(List.of(UserMessage.from(contents)))
                .getFirst();
    }

    @Test
    void addressesAreFilesOrData() throws IOException {
        String base64 = RED.image().base64Data();
        Path file = Files.write(folder.resolve("red.png"), Base64.getDecoder().decode(base64));
        ChatTurn expected = turn(RED);
        assertEquals(expected, turn(ImageContent.from("data:image/png;base64," + base64)));
        ChatTurn read = turn(ImageContent.from(file.toUri()));
        assertEquals(expected.text(), read.text());
        assertEquals(
                expected.media().getFirst().bytes(), read.media().getFirst().bytes());
        assertTrue(refused(Seeing.MODEL, ImageContent.from("https://example.org/cat.png"))
                .contains("(image)"));
    }

    @Test
    void whatTheModelDoesNotTakeIsRefused() {
        assertTrue(refused(Seeing.MODEL, AudioContent.from("UklGRg==", "audio/wav"))
                .contains("audio"));
        assertTrue(refused(Seeing.MODEL, VideoContent.from("https://example.org/cat.mp4"))
                .contains("video"));
        assertTrue(refused(Embedded.MODEL, RED).contains("companion"));
    }

    private static String refused(Model model, Content content) {
        TenonChatModel chat = TenonChatModel.builder().model(model).build();
        return assertThrows(UnsupportedFeatureException.class, () -> chat.chat(UserMessage.from(QUESTION, content)))
                .getMessage();
    }

    @Test
    void picturesAreCounted() {
        TenonTokenCountEstimator tokens =
                TenonTokenCountEstimator.builder().model(Seeing.MODEL).build();
        int text = tokens.estimateTokenCountInMessage(UserMessage.from(QUESTION));
        assertTrue(tokens.estimateTokenCountInMessage(UserMessage.from(QUESTION, RED)) > text + 8);
    }
}
