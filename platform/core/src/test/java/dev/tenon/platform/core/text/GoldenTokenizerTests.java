package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.text.Tokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Compares with token ids that llama.cpp gives. The data belong to other projects, so the tests are
/// skipped without.
class GoldenTokenizerTests {
    @ParameterizedTest
    @ValueSource(strings = {"gpt-2", "llama-bpe", "llama-spm", "qwen2"})
    void ownVectorsGiveTheIdsOfTheReference(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(TextTestData.shared("golden/tokenizer/" + name + ".gguf"));
        JsonNode golden = TextTestData.json(TextTestData.shared("golden/tokenizer/" + name + ".vectors.json"));
        JsonNode info = golden.get("info");
        assertEquals(info.get("n").asInt(), tokenizer.vocabularySize());
        assertEquals(info.get("bos").asInt(), tokenizer.bos().orElse(-1));
        assertEquals(info.get("eos").asInt(), tokenizer.eos().orElse(-1));
        assertEquals(info.get("add_bos").asInt() == 1, tokenizer.addsBos());
        int eot = info.get("eot").asInt();
        assertTrue(eot < 0 || tokenizer.isEndOfGeneration(eot), "eot " + eot);
        assertTrue(tokenizer.isEndOfGeneration(info.get("eos").asInt()));
        assertEquals(75, golden.get("vectors").size());
        for (JsonNode vector : golden.get("vectors")) {
            String text = vector.get("text").asText();
            int[] ids = TextTestData.ids(vector.get("ids"));
            assertIds(ids, tokenizer.encode(text, false, false), text);
            String decoded = vector.get("roundtrip").asBoolean()
                    ? text
                    : new String(
                            HexFormat.of().parseHex(vector.get("decoded_hex").asText()), StandardCharsets.UTF_8);
            assertEquals(decoded, tokenizer.decode(ids));
        }
        for (JsonNode vector : golden.get("special")) {
            String text = vector.get("text").asText();
            assertIds(TextTestData.ids(vector.get("ids_parse_special")), tokenizer.encode(text, false, true), text);
            assertIds(TextTestData.ids(vector.get("ids_no_special")), tokenizer.encode(text, false, false), text);
            assertIds(
                    TextTestData.ids(vector.get("ids_add_bos_parse_special")),
                    tokenizer.encode(text, true, true),
                    text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt-2", "llama-spm"})
    void publishedVectorsGiveTheIdsOfTheReference(String name) throws IOException {
        Tokenizer tokenizer = TextTestData.tokenizer(TextTestData.shared("golden/tokenizer/" + name + ".gguf"));
        String input = Files.readString(TextTestData.shared("golden/tokenizer/" + name + ".inp"));
        List<String> lines = Files.readAllLines(TextTestData.shared("golden/tokenizer/" + name + ".out"));
        List<String> texts = new ArrayList<>(Arrays.asList(input.split("\n__ggml_vocab_test__\n", -1)));
        if (texts.getLast().isEmpty()) {
            texts.removeLast();
        }
        assertEquals(46, texts.size());
        assertEquals(lines.size(), texts.size());
        for (int i = 0; i < texts.size(); i++) {
            int[] expected = Stream.of(lines.get(i).trim().split(" "))
                    .filter(s -> !s.isEmpty())
                    .mapToInt(Integer::parseInt)
                    .toArray();
            assertIds(expected, tokenizer.encode(texts.get(i), false, false), texts.get(i));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama", "qwen3"})
    void promptsOfTheStoryModelsGiveTheIdsOfTheReference(String name) throws IOException {
        JsonNode golden = TextTestData.json(TextTestData.shared("models/golden-" + name + ".json"));
        String quant = name.equals("llama") ? "q6_k" : "q4_k_m";
        Tokenizer tokenizer =
                TextTestData.tokenizer(TextTestData.shared("models/story-" + name + "-" + quant + ".gguf"));
        int checked = 0;
        for (JsonNode format : golden.get("formats")) {
            for (JsonNode prompt : format.get("prompts")) {
                String text = prompt.get("prompt").asText();
                assertIds(TextTestData.ids(prompt.get("ids")), tokenizer.encode(text, false, true), text);
                assertEquals(
                        prompt.get("greedy_text").asText(),
                        tokenizer.decode(TextTestData.ids(prompt.get("greedy_ids"))));
                checked++;
            }
        }
        assertTrue(checked >= 5, checked + " prompts");
        String heldOut = Files.readString(TextTestData.shared("models/heldout.txt"));
        assertEquals(heldOut, tokenizer.decode(tokenizer.encode(heldOut, false, false)));
    }

    /// The reference's own tokens of two texts, for every model: kinds of tokenizers, pre-tokenizers, special
    /// tokens. WordPiece drops case and accents, unigram
    /// unknown characters, so that their ids do not give the text back.
    @ParameterizedTest
    @ValueSource(strings = {"models", "models-more", "models-next"})
    void everyGoldenModelHasATokenizerThatEncodesItsTexts(String folder) throws IOException {
        int models = 0;
        for (Path model : files(TextTestData.shared("golden/" + folder))) {
            Tokenizer tokenizer = TextTestData.tokenizer(model);
            String json = model.getFileName().toString().replace(".gguf", ".json");
            int texts = 0;
            for (JsonNode sequence :
                    TextTestData.json(model.resolveSibling(json)).get("sequences")) {
                if (sequence.has("text")) {
                    String text = sequence.get("text").asText();
                    int[] ids = TextTestData.ids(sequence.get("ids"));
                    assertIds(ids, tokenizer.encode(text, true, true), model + " " + text);
                    if (!(tokenizer instanceof WordPieceTokenizer || tokenizer instanceof UnigramTokenizer)) {
                        assertEquals(text, tokenizer.decode(ids));
                    }
                    texts++;
                }
            }
            assertEquals(2, texts, model + ": texts");
            models++;
        }
        assertTrue(models >= 16, models + " models");
    }

    @Test
    void theVocabulariesOfTheStoryModelsAreWhole() throws IOException {
        for (Path model : files(TextTestData.shared("models"))) {
            assertEquals(4096, TextTestData.tokenizer(model).vocabularySize());
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".gguf")).sorted().toList();
        }
    }

    private static void assertIds(int[] expected, int[] found, String text) {
        assertArrayEquals(
                expected, found, () -> text + "\n" + Arrays.toString(expected) + "\n" + Arrays.toString(found));
    }
}
