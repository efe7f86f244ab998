package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import dev.tenon.platform.media.MediaException;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class MediaPromptsTests {
    private static final Set<MediaKind> ALL = Set.of(MediaKind.PICTURE, MediaKind.SOUND);
    private static final MediaPart PICTURE = new MediaPart("image/png", ByteBuffer.wrap(png(3, 2)));
    private static final MediaPart SOUND = new MediaPart("", ByteBuffer.wrap(wav(4)));

    /// What stands for a picture or sound in the tests: its size, as tokens below 0, between two of the vocabulary.
    private record Encoded(int... tokens) implements PromptMedia {
        @Override
        public int rows() {
            return tokens.length - 2;
        }

        @Override
        public float[] row(int index) {
            throw new UnsupportedOperationException("no row is read");
        }
    }

    private int encoded;

    private LoadedModel model(int context, Set<MediaKind> kinds) {
        GgufFile file = proxy(GgufFile.class, "path", Path.of("models/eye.gguf"));
        return LoadedModel.class.cast(Proxy.newProxyInstance(
                MediaPromptsTests.class.getClassLoader(),
                new Class<?>[] {LoadedModel.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "tokenizer" -> new LetterTokenizer();
                    case "contextLength" -> context;
                    case "media" -> kinds;
                    case "file" -> file;
                    case "encode" -> {
                        encoded++;
                        yield args[0] instanceof Picture picture
                                ? new Encoded(
                                        60,
                                        -picture.size().width(),
                                        -picture.size().height(),
                                        62)
                                : new Encoded(40, -((Sound) args[0]).length(), 41);
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                }));
    }

    private static <T> T proxy(Class<T> type, String name, Object value) {
        return type.cast(Proxy.newProxyInstance(
                MediaPromptsTests.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                    assertEquals(name, method.getName());
                    return value;
                }));
    }

    private static byte[] png(int width, int height) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ImageIO.write(new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB), "png", out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /// A WAV of 16 bits at 16 kHz.
    private static byte[] wav(int samples) {
        ByteBuffer wav = ByteBuffer.allocate(44 + 2 * samples).order(ByteOrder.LITTLE_ENDIAN);
        wav.put("RIFF".getBytes()).putInt(36 + 2 * samples).put("WAVEfmt ".getBytes());
        wav.putInt(16).putShort((short) 1).putShort((short) 1).putInt(16_000).putInt(32_000);
        wav.putShort((short) 2).putShort((short) 16).put("data".getBytes()).putInt(2 * samples);
        return wav.array();
    }

    private static int[] tokens(Object... parts) {
        return List.of(parts).stream()
                .flatMapToInt(part -> part instanceof String text ? text.chars() : IntStream.of((Integer) part))
                .toArray();
    }

    @Test
    void partsStandInTheirPlaces() {
        MediaPrompts.Encoded prompt = MediaPrompts.encode(model(100, ALL), "a￼b￼", true, List.of(PICTURE, SOUND));
        assertArrayEquals(tokens(1, "a", 60, -3, -2, 62, "b", 40, -4, 41, 2), prompt.tokens());
        assertEquals(2, prompt.media().size());
        assertArrayEquals(new int[] {40, -4, 41}, prompt.media().get(1).tokens());
    }

    @Test
    void nothingIsAddedIfNotAskedFor() {
        MediaPrompts.Encoded prompt = MediaPrompts.encode(model(100, ALL), "￼a", false, List.of(PICTURE));
        assertArrayEquals(tokens(60, -3, -2, 62, "a"), prompt.tokens());
    }

    @Test
    void controlTokensSpanNoBorder() {
        int[] borders = {1, 4, 6};
        assertArrayEquals(
                tokens("##", 60, -3, -2, 62, "#", 3, "#"),
                MediaPrompts.encode(model(100, ALL), "##￼####", false, borders, List.of(PICTURE))
                        .tokens());
        assertArrayEquals(
                tokens(3, 60, -3, -2, 62, 3, 3),
                MediaPrompts.encode(model(100, ALL), "##￼####", false, new int[] {2, 3, 5}, List.of(PICTURE))
                        .tokens());
    }

    @Test
    void textWithoutPartsIsText() {
        assertArrayEquals(
                tokens(1, "a￼", 2),
                MediaPrompts.encode(model(100, Set.of()), "a￼", true, List.of()).tokens());
    }

    private ChatException refused(LoadedModel model, String text, MediaPart... parts) {
        ChatException refused =
                assertThrows(ChatException.class, () -> MediaPrompts.encode(model, text, true, List.of(parts)));
        assertEquals(ChatException.Part.TURNS, refused.part());
        return refused;
    }

    @Test
    void aModelWithoutEncoderRefuses() {
        ChatException pictures = refused(model(100, Set.of(MediaKind.SOUND)), "￼", PICTURE);
        assertTrue(pictures.getMessage().contains("eye.gguf takes no pictures"), pictures.getMessage());
        assertTrue(pictures.getMessage().contains("--mmproj"), pictures.getMessage());
        ChatException sounds = refused(model(100, Set.of(MediaKind.PICTURE)), "￼￼", PICTURE, SOUND);
        assertTrue(sounds.getMessage().contains("takes no sounds"), sounds.getMessage());
        MediaPart typed = new MediaPart("audio/mpeg", ByteBuffer.allocate(2));
        refused(model(100, Set.of(MediaKind.PICTURE)), "￼", typed);
        assertEquals(0, encoded);
    }

    @Test
    void eachPartHasAPlace() {
        ChatException refused = refused(model(100, ALL), "￼ and ￼", PICTURE);
        assertTrue(refused.getMessage().contains("has 2 places"), refused.getMessage());
        refused(model(100, ALL), "none", PICTURE);
        assertEquals(0, encoded);
    }

    @Test
    void whatIsNotReadIsTold() {
        ChatException refused =
                refused(model(100, ALL), "￼￼", PICTURE, new MediaPart("image/png", ByteBuffer.wrap(new byte[20])));
        assertEquals(MediaException.UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains("Picture 2 of 2"), refused.getMessage());
    }

    @Test
    void promptsFitTheContext() {
        assertEquals(
                9,
                MediaPrompts.encode(model(10, ALL), "abc￼", true, List.of(PICTURE))
                        .tokens()
                        .length);
        PromptText.TooLong rows = assertThrows(
                PromptText.TooLong.class,
                () -> MediaPrompts.encode(model(9, ALL), "abc￼", true, new int[0], List.of(PICTURE)));
        assertEquals("messages", rows.field());
        assertEquals(2, encoded);
        PromptText.TooLong text = assertThrows(
                PromptText.TooLong.class, () -> MediaPrompts.encode(model(6, ALL), "abc￼", true, List.of(PICTURE)));
        assertEquals("prompt", text.field());
        assertEquals(ErrorCode.CONTEXT_LENGTH, text.code());
        assertEquals(2, encoded, "the text alone was too long");
    }
}
