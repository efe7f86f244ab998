package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What the tokenizers of every [TokenizerProvider] have to keep to.
///
/// Which tokens a text has is the tokenizer's own; known answers belong to its own tests.
public abstract class TokenizerContract {
    private static final String CUT = "\uFFFD";

    /// For subclasses.
    protected TokenizerContract() {}

    /// {@return what is under test}
    protected abstract TokenizerProvider provider();

    /// {@return the metadata of a model file with a vocabulary, such as [#byteVocabulary]}
    protected abstract GgufMetadata metadata();

    /// {@return texts that are the same after they were encoded and decoded}
    protected List<String> texts() {
        return List.of(
                "", "a", "Once upon a time, there was a fox.", "tabs\tand\n\nlines  ", "Grüße, 你好, 🙂🙂!", "1+1=2");
    }

    /// {@return the smallest vocabulary: control tokens `<unk>` (0), `<s>` (1) and `</s>` (2), a token for each
    ///     byte, and `▁` (259), the blank of SentencePiece}
    ///
    /// @param model the value of `tokenizer.ggml.model`
    public static GgufMetadata byteVocabulary(String model) {
        int size = 3 + 256 + 1;
        String[] tokens = new String[size];
        long[] types = new long[size];
        for (int id = 0; id < size; id++) {
            tokens[id] = id < 3 ? List.of("<unk>", "<s>", "</s>").get(id) : "<0x%02X>".formatted(id - 3);
            types[id] = id < 1 ? 2 : id < 3 ? 3 : 6;
        }
        tokens[size - 1] = "\u2581";
        types[size - 1] = 1;
        Map<String, GgufValue> values = new LinkedHashMap<>();
        values.put("tokenizer.ggml.model", GgufValue.of(model));
        values.put("tokenizer.ggml.tokens", GgufValue.of(tokens));
        values.put("tokenizer.ggml.scores", GgufValue.of(new float[size]));
        values.put("tokenizer.ggml.token_type", new GgufValue(GgufType.ARRAY, GgufType.INT32, types));
        values.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(1));
        values.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(2));
        values.put("tokenizer.ggml.unknown_token_id", GgufValue.ofUint32(0));
        return GgufMetadata.of("a vocabulary of bytes", values);
    }

    private Tokenizer tokenizer() {
        return provider().create(metadata());
    }

    private static int[] plain(Tokenizer tokenizer, String text) {
        return tokenizer.encode(text, false, false);
    }

    /// Any chars, also halves of surrogate pairs.
    private static Stream<String> anyTexts() {
        Random random = new Random(3);
        return Stream.concat(
                Stream.of("\uD83D", "\uDE42\uD83D", "\0", "\uFEFF", " ", "\u2581", "x".repeat(20_000)),
                Stream.generate(() -> IntStream.generate(() -> random.nextInt(0x3000))
                                .limit(random.nextInt(200))
                                .collect(StringBuilder::new, (text, c) -> text.append((char) c), StringBuilder::append)
                                .toString())
                        .limit(200));
    }

    private static IntStream controls(Tokenizer tokenizer) {
        return IntStream.range(0, tokenizer.vocabularySize())
                .filter(id -> tokenizer.isControl(id) && !tokenizer.piece(id).isEmpty());
    }

    private static boolean has(int[] ids, int id) {
        return IntStream.of(ids).anyMatch(each -> each == id);
    }

    @Test
    void textsSurvive() {
        Tokenizer tokenizer = tokenizer();
        for (String text : texts()) {
            assertEquals(text, tokenizer.decode(plain(tokenizer, text)));
        }
    }

    @Test
    void streamsGiveTheTextInWholeCharacters() {
        Tokenizer tokenizer = tokenizer();
        for (String text : texts()) {
            int[] ids = plain(tokenizer, text);
            StreamDecoder decoder = tokenizer.decoder();
            StreamDecoder beside = tokenizer.decoder();
            StringBuilder whole = new StringBuilder();
            for (int id : ids) {
                String part = decoder.next(id);
                beside.next(ids[0]);
                assertTrue(text.contains(CUT) || !part.contains(CUT), () -> "a cut character in " + part);
                assertTrue(
                        part.isEmpty()
                                || !Character.isHighSurrogate(part.charAt(part.length() - 1))
                                        && !Character.isLowSurrogate(part.charAt(0)),
                        () -> "half of a character at an end of " + part);
                whole.append(part);
            }
            assertEquals(tokenizer.decode(ids), whole.append(decoder.finish()).toString());
        }
    }

    @Test
    void aCharacterThatStaysCutIsReplacedAtTheEnd() {
        Tokenizer tokenizer = tokenizer();
        int[] ids = plain(tokenizer, "🙂");
        assumeTrue(ids.length > 1, "the character is one token");
        StreamDecoder decoder = tokenizer.decoder();
        for (int i = 0; i < ids.length - 1; i++) {
            assertEquals("", decoder.next(ids[i]), "the last token ends the character");
        }
        assertEquals(CUT, decoder.finish());
    }

    @Test
    void bytesOfTokensAreTheText() {
        Tokenizer tokenizer = tokenizer();
        for (String text : texts()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int id : plain(tokenizer, text)) {
                bytes.writeBytes(tokenizer.bytes(id));
            }
            String whole = bytes.toString(StandardCharsets.UTF_8);
            // Some vocabularies begin a text with a blank that is not part of it.
            assertTrue(whole.equals(text) || whole.equals(" " + text), () -> "'" + whole + "' of '" + text + "'");
        }
    }

    @Test
    void controlTokensAreNotForgedByText() {
        Tokenizer tokenizer = tokenizer();
        controls(tokenizer).forEach(id -> {
            String text = "a" + tokenizer.piece(id) + "b";
            for (int found : plain(tokenizer, text)) {
                assertFalse(tokenizer.isControl(found), () -> text + " became a control token");
            }
            int middle = 1 + tokenizer.piece(id).length() / 2;
            assertTrue(
                    tokenizer.piece(id).length() < 2 || !has(tokenizer.encode(text, false, new int[] {middle}), id),
                    () -> text + " became a control token across a border");
        });
    }

    @Test
    void controlTokensAreReadWhereThatIsWanted() {
        Tokenizer tokenizer = tokenizer();
        controls(tokenizer).forEach(id -> {
            String text = "a" + tokenizer.piece(id) + "b";
            assertTrue(has(tokenizer.encode(text, false, true), id), text);
            assertTrue(has(tokenizer.encode(text, false, new int[0]), id), text);
        });
    }

    @Test
    void specialTokensAreAddedWhereThatIsWanted() {
        Tokenizer tokenizer = tokenizer();
        int[] plain = plain(tokenizer, "a");
        int[] added = tokenizer.encode("a", true, false);
        if (tokenizer.addsBos()) {
            assertEquals(tokenizer.bos().orElseThrow(), added[0]);
            assertFalse(has(plain, added[0]));
        } else {
            assertEquals(plain[0], added[0]);
        }
        tokenizer.eos().ifPresent(eos -> assertTrue(tokenizer.isEndOfGeneration(eos), "EOS ends a generation"));
    }

    @Test
    void everyIdHasATextAndBytes() {
        Tokenizer tokenizer = tokenizer();
        assertTrue(tokenizer.vocabularySize() > 0);
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            assertNotNull(tokenizer.piece(id));
            int bytes = tokenizer.bytes(id).length;
            assertTrue(bytes == 0 || !tokenizer.isControl(id), "control token " + id + " has bytes");
        }
        for (int id : new int[] {-1, tokenizer.vocabularySize(), Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> tokenizer.piece(id));
            assertThrows(IllegalArgumentException.class, () -> tokenizer.bytes(id));
        }
    }

    @Test
    void anyTextHasTokens() {
        Tokenizer tokenizer = tokenizer();
        anyTexts().forEach(text -> {
            for (boolean special : new boolean[] {false, true}) {
                int[] ids = tokenizer.encode(text, special, special);
                for (int id : ids) {
                    assertTrue(id >= 0 && id < tokenizer.vocabularySize(), () -> "token " + id);
                }
                assertNotNull(tokenizer.decode(ids));
            }
        });
    }

    @Test
    void severalThreadsMayUseIt() {
        Tokenizer tokenizer = tokenizer();
        List<String> all = anyTexts().toList();
        List<int[]> alone = all.stream().map(text -> plain(tokenizer, text)).toList();
        AtomicInteger threads = new AtomicInteger();
        NamedRuleContract.onThreads(() -> {
            int first = 20 * threads.getAndIncrement(); // no two with the same text
            for (int i = 0; i < all.size(); i++) {
                int text = (first + i) % all.size();
                assertArrayEquals(alone.get(text), plain(tokenizer, all.get(text)));
            }
        });
    }

    @Test
    void aFileWithoutAVocabularyIsRefusedWithACode() {
        GgufMetadata nothing = GgufMetadata.of(
                "nothing",
                Map.of("tokenizer.ggml.model", GgufValue.of(provider().model())));
        try {
            assertNotNull(provider().create(nothing).bos());
        } catch (TenonException e) {
            assertFalse(e.code().isEmpty());
        }
    }
}
