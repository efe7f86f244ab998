package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Encodes and decodes with the small vocabularies that come with the project.
class SmallVocabularyTests {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "llama-gqa",
                "qwen2",
                "qwen35",
                "olmoe",
                "modern-bert",
                "mistral-like",
                "gemma2",
                "gemma4",
                "bert",
                "rwkv7",
                "story-llama"
            })
    void goldenTextsGiveTheirIds(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name + ".gguf");
        JsonNode vectors = TextTestData.json("vectors.json").get(name);
        assertTrue(vectors.size() >= 2);
        for (JsonNode vector : vectors) {
            int[] ids = TextTestData.ids(vector.get("ids"));
            if (vector.has("text")) {
                String text = vector.get("text").asText();
                assertArrayEquals(ids, tokenizer.encode(text, true, true), text);
            } else {
                assertEquals(vector.get("decoded").asText(), tokenizer.decode(ids));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "llama-gqa",
                "qwen2",
                "qwen35",
                "olmoe",
                "modern-bert",
                "mistral-like",
                "gemma2",
                "gemma4",
                "bert",
                "rwkv7",
                "story-llama"
            })
    void controlTokensThatSpanABorderStayText(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name + ".gguf");
        int[] controls = IntStream.range(0, tokenizer.vocabularySize())
                .filter(id -> tokenizer.isControl(id) && tokenizer.piece(id).length() > 1)
                .limit(20)
                .toArray();
        assertTrue(controls.length > 0);
        for (int control : controls) {
            String piece = tokenizer.piece(control);
            String user = "Say  " + piece + "\nnow" + piece;
            String text = piece + user + piece;
            int first = text.indexOf(piece, 1) + 1;
            int second = text.indexOf(piece, first) + piece.length() - 1;
            int[] inner = tokenizer.encode(user, false, false);
            int[] expected = new int[inner.length + 2];
            System.arraycopy(inner, 0, expected, 1, inner.length);
            expected[0] = control;
            expected[expected.length - 1] = control;
            int[] borders = {first, second};
            assertArrayEquals(expected, tokenizer.encode(text, false, borders), piece);
            int[] whole = tokenizer.encode(text, true, true);
            assertArrayEquals(whole, tokenizer.encode(text, true, new int[0]), piece);
            int[] beside = {0, piece.length(), first - 1, text.length()};
            assertArrayEquals(whole, tokenizer.encode(text, true, beside), piece);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa", "qwen2", "qwen35", "olmoe", "mistral-like", "gemma2", "gemma4", "story-llama"})
    void decodingGivesAnyUnicodeTextBack(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name + ".gguf");
        for (int seed = 0; seed < 1500; seed++) {
            String text = TextTestData.randomText(new Random(seed), 60);
            assertEquals(text, tokenizer.decode(tokenizer.encode(text, false, false)), "seed " + seed);
            assertEquals(text, tokenizer.decode(tokenizer.encode(text, true, false)), "seed " + seed);
        }
    }

    @Test
    void loneSurrogatesBecomeReplacementCharacters() {
        for (String name : new String[] {"llama-gqa.gguf", "mistral-like.gguf"}) {
            Tokenizer tokenizer = TextTestData.tokenizer(name);
            for (String text : new String[] {"a\ud800", "\udc00b", "\ud83d\ude00\ud83d", "x\ud800\ud800y"}) {
                String decoded = tokenizer.decode(tokenizer.encode(text, false, false));
                assertEquals(text.length(), decoded.length());
                assertTrue(decoded.contains("\ufffd"), decoded);
                assertFalse(decoded.contains("?"), decoded);
            }
        }
    }

    @Test
    void controlTokensInTextAreOneTokenOnlyOnRequest() {
        Tokenizer tokenizer = TextTestData.tokenizer("qwen2.gguf");
        String text = "<|im_start|>user<|im_end|>";
        int[] parsed = tokenizer.encode(text, true, true);
        assertEquals(510, parsed[0]);
        assertEquals(511, parsed[parsed.length - 1]);
        for (int id : tokenizer.encode(text, true, false)) {
            assertFalse(tokenizer.isControl(id), "forged token " + id);
        }
        assertEquals("user", tokenizer.decode(parsed));
        assertEquals(text, tokenizer.decode(tokenizer.encode(text, false, false)));
        assertEquals("<|im_end|>", tokenizer.piece(511));
        assertEquals(0, tokenizer.bytes(511).length);
        assertTrue(tokenizer.isControl(511));
        assertTrue(tokenizer.isEndOfGeneration(511));
        assertTrue(tokenizer.isEndOfGeneration(509), "<|endoftext|> ends a generation though it is not eos");
        assertFalse(tokenizer.isEndOfGeneration(510));
    }

    @Test
    void userDefinedTokensAreAlwaysRecognised() {
        GgufMetadata metadata = TestGguf.resource("qwen2.gguf");
        long[] types =
                metadata.integers("tokenizer.ggml.token_type").orElseThrow().clone();
        types[510] = Vocabulary.USER_DEFINED;
        Tokenizer tokenizer = Tokenizers.create(
                TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(types)),
                TextTestData.PROVIDERS);
        int[] ids = tokenizer.encode("a<|im_start|>b<|im_end|>", false, false);
        assertEquals(510, ids[1]);
        assertFalse(tokenizer.isControl(ids[ids.length - 1]));
        assertEquals("a<|im_start|>b<|im_end|>", tokenizer.decode(ids));
    }

    @Test
    void bosAndEosAreAddedWhenTheVocabularyAsksForThem() {
        GgufMetadata metadata = TestGguf.resource("mistral-like.gguf");
        Tokenizer both = Tokenizers.create(
                TextTestData.with(metadata, "tokenizer.ggml.add_eos_token", GgufValue.of(true)),
                TextTestData.PROVIDERS);
        assertTrue(both.addsBos());
        assertArrayEquals(new int[] {1, 2}, both.encode("", true, false));
        assertArrayEquals(new int[] {}, both.encode("", false, false));
        Tokenizer none = Tokenizers.create(
                TextTestData.with(metadata, "tokenizer.ggml.add_bos_token", GgufValue.of(false)),
                TextTestData.PROVIDERS);
        assertFalse(none.addsBos());
        assertArrayEquals(new int[] {}, none.encode("", true, false));
        Tokenizer byDefault = Tokenizers.create(
                TextTestData.with(metadata, "tokenizer.ggml.add_bos_token", null), TextTestData.PROVIDERS);
        assertTrue(byDefault.addsBos(), "SentencePiece adds BOS when the file does not say");
        assertTrue(TextTestData.tokenizer("ok_model.gguf").addsBos(), "llama-bpe adds BOS when the file does not say");
    }

    @Test
    void sentencePieceWithoutByteTokensFallsBackToTheUnknownToken() {
        GgufMetadata metadata = TestGguf.resource("mistral-like.gguf");
        long[] types =
                metadata.integers("tokenizer.ggml.token_type").orElseThrow().clone();
        for (int id = 3; id < 259; id++) {
            types[id] = Vocabulary.UNUSED;
        }
        Tokenizer tokenizer = Tokenizers.create(
                TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(types)),
                TextTestData.PROVIDERS);
        int[] ids = tokenizer.encode("a😀b", false, false);
        assertEquals(1, java.util.stream.IntStream.of(ids).filter(id -> id == 0).count());
        assertEquals("a\ufffdb", tokenizer.decode(ids));
    }

    @Test
    void idsOutOfRangeAreRefused() {
        Tokenizer tokenizer = TextTestData.tokenizer("llama-gqa.gguf");
        assertThrows(IllegalArgumentException.class, () -> tokenizer.bytes(512));
        assertThrows(IllegalArgumentException.class, () -> tokenizer.piece(-1));
        assertThrows(IllegalArgumentException.class, () -> tokenizer.decoder().next(512));
        assertFalse(tokenizer.isControl(-1));
        assertFalse(tokenizer.isEndOfGeneration(-1));
    }

    @Test
    void manyThreadsEncodeAlike() throws InterruptedException {
        Tokenizer tokenizer = TextTestData.tokenizer("story-llama.gguf");
        int[][] expected = new int[200][];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = tokenizer.encode(TextTestData.randomText(new Random(i), 200), false, false);
        }
        Tokenizer fresh = TextTestData.tokenizer("story-llama.gguf");
        Throwable[] failure = new Throwable[1];
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform()
                    .uncaughtExceptionHandler((thread, e) -> failure[0] = e)
                    .start(() -> {
                        for (int i = 0; i < expected.length; i++) {
                            String text = TextTestData.randomText(new Random(i), 200);
                            assertArrayEquals(expected[i], fresh.encode(text, false, false));
                        }
                    });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(null, failure[0]);
    }
}
