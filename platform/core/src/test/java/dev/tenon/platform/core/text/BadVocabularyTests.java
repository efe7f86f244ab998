package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.gguf.TokenIds;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Broken vocabularies end in an error that says what is wrong.
class BadVocabularyTests {
    private static final GgufMetadata BPE = TestGguf.resource("ok_model.gguf");
    private static final GgufValue NEGATIVE = new GgufValue(GgufType.INT32, null, -1L);
    private static final GgufMetadata SPM = TestGguf.resource("mistral-like.gguf");

    private static TenonException refused(GgufMetadata metadata) {
        return assertThrows(TenonException.class, () -> Tokenizers.create(metadata, TextTestData.PROVIDERS));
    }

    private static void assertRefused(GgufMetadata good, String key, GgufValue value, String code) {
        assertNotNull(Tokenizers.create(good, TextTestData.PROVIDERS));
        TenonException e = refused(TextTestData.with(good, "tokenizer.ggml." + key, value));
        assertEquals(code, e.code(), e.getMessage());
        assertTrue(e.getMessage().contains(good.source()), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "no_tokens, MODEL-001",
        "short_token_type, MODEL-008",
        "bos_out_of_range, MODEL-008",
        "unknown_tokenizer, MODEL-008",
    })
    void goldenBrokenVocabulariesAreRefused(String name, String code) {
        TenonException e = refused(TestGguf.resource(name + ".gguf"));
        assertEquals(code, e.code(), e.getMessage());
        Class<?> type = name.equals("unknown_tokenizer") ? UnsupportedModelException.class : ModelFormatException.class;
        assertInstanceOf(type, e);
    }

    @Test
    void goldenFilesOfModelLevelAreRefusedForTheirVocabularyOnly() {
        Path folder = TextTestData.shared("golden/malformed");
        List<String> broken =
                List.of("no_tokens.gguf", "short_token_type.gguf", "bos_out_of_range.gguf", "unknown_tokenizer.gguf");
        int accepted = 0;
        for (JsonNode entry : TextTestData.json(folder.resolve("manifest.json"))) {
            String file = entry.get("file").asText();
            if (entry.get("level").asText().equals("container") || file.equals("no_hyperparameters.gguf")) {
                continue;
            }
            if (broken.contains(file)) {
                refused(TestGguf.file(folder.resolve(file)));
            } else {
                assertNotNull(TextTestData.tokenizer(folder.resolve(file)), file);
                accepted++;
            }
        }
        assertTrue(accepted >= 16, accepted + " accepted");
    }

    /// Quantised files of Google's have such tokens.
    @Test
    void ofTokensWithOneTextTheFirstIsTakenAndBothAreDecoded() {
        for (GgufMetadata good : List.of(BPE, SPM)) {
            String[] tokens =
                    good.strings("tokenizer.ggml.tokens").orElseThrow().clone();
            Tokenizer before = Tokenizers.create(good, TextTestData.PROVIDERS);
            int first = before.encode("a", false, false)[before.encode("a", false, false).length - 1];
            int last = tokens.length - 1;
            tokens[last] = tokens[first];
            long[] types =
                    good.integers("tokenizer.ggml.token_type").orElseThrow().clone();
            types[last] = types[first];
            Tokenizer tokenizer = Tokenizers.create(
                    TextTestData.with(
                            TextTestData.with(good, "tokenizer.ggml.tokens", GgufValue.of(tokens)),
                            "tokenizer.ggml.token_type",
                            GgufValue.ofInt32Array(types)),
                    TextTestData.PROVIDERS);
            assertArrayEquals(before.encode("a", false, false), tokenizer.encode("a", false, false));
            assertEquals(tokenizer.piece(first), tokenizer.piece(last));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0xFFFFFFFFL, -1})
    void anIdMayBeThatOfNoToken(long none) {
        GgufValue value = none < 0 ? NEGATIVE : GgufValue.ofUint32(none);
        GgufMetadata file = BPE;
        for (String id : List.of("bos", "eos", "eot", "eom", "unknown", "seperator", "cls")) {
            file = TextTestData.with(file, "tokenizer.ggml." + id + "_token_id", value);
        }
        file = TextTestData.with(file, "tokenizer.ggml.add_bos_token", GgufValue.of(true));
        Tokenizer tokenizer = Tokenizers.create(file, TextTestData.PROVIDERS);
        assertEquals(OptionalInt.empty(), tokenizer.bos());
        assertEquals(OptionalInt.empty(), tokenizer.eos());
        assertFalse(tokenizer.addsBos());
        assertArrayEquals(tokenizer.encode("a", false, false), tokenizer.encode("a", true, false));
        assertEquals(OptionalInt.empty(), TokenIds.find(file, "tokenizer.ggml.seperator_token_id"));
    }

    @Test
    void missingKeysAreNamed() {
        for (String key : new String[] {"model", "tokens", "merges"}) {
            assertRefused(BPE, key, null, ErrorCode.MODEL_KEY_MISSING);
        }
        for (String key : new String[] {"model", "tokens", "scores"}) {
            assertRefused(SPM, key, null, ErrorCode.MODEL_KEY_MISSING);
        }
    }

    @Test
    void wrongTypesAreRefused() {
        assertRefused(BPE, "tokens", GgufValue.of("a"), ErrorCode.MODEL_KEY_VALUE);
        assertRefused(BPE, "merges", GgufValue.of(1.5f), ErrorCode.MODEL_KEY_VALUE);
        assertRefused(BPE, "pre", GgufValue.of(true), ErrorCode.MODEL_KEY_VALUE);
        assertRefused(BPE, "token_type", GgufValue.of(new float[261]), ErrorCode.MODEL_KEY_VALUE);
        assertRefused(SPM, "scores", GgufValue.of("a"), ErrorCode.MODEL_KEY_VALUE);
        assertRefused(SPM, "add_space_prefix", GgufValue.of("a"), ErrorCode.MODEL_KEY_VALUE);
    }

    @Test
    void contradictionsAreRefused() {
        String bad = ErrorCode.MODEL_TOKENIZER;
        assertRefused(BPE, "tokens", GgufValue.of(new String[0]), bad);
        assertRefused(BPE, "pre", GgufValue.of("klingon"), bad);
        assertRefused(BPE, "merges", GgufValue.of(new String[] {"ab"}), bad);
        assertRefused(BPE, "merges", GgufValue.of(new String[] {"a "}), bad);
        assertRefused(BPE, "merges", GgufValue.of(new String[] {""}), bad);
        assertRefused(BPE, "eos_token_id", GgufValue.ofUint32(261), bad);
        assertRefused(BPE, "eot_token_id", GgufValue.ofUint32(261), bad);
        assertRefused(BPE, "unknown_token_id", GgufValue.ofUint32(4000), bad);
        long[] types = BPE.integers("tokenizer.ggml.token_type").orElseThrow().clone();
        types[7] = 99;
        assertRefused(BPE, "token_type", GgufValue.ofInt32Array(types), bad);
        assertRefused(SPM, "scores", GgufValue.of(new float[511]), bad);
        String[] tokens = SPM.strings("tokenizer.ggml.tokens").orElseThrow().clone();
        tokens[3] = "<0xZZ>";
        assertRefused(SPM, "tokens", GgufValue.of(tokens), bad);
    }

    @Test
    void bosThatIsToBeAddedMustBeNamed() {
        GgufMetadata asking = TextTestData.with(BPE, "tokenizer.ggml.add_bos_token", GgufValue.of(true));
        assertRefused(asking, "bos_token_id", null, ErrorCode.MODEL_KEY_MISSING);
    }

    @Test
    void byteWithoutTokenIsRefusedWhenATextNeedsIt() {
        GgufMetadata small = GgufMetadata.of(
                "small.gguf",
                java.util.Map.of(
                        "tokenizer.ggml.model", GgufValue.of("gpt2"),
                        "tokenizer.ggml.pre", GgufValue.of("gpt-2"),
                        "tokenizer.ggml.tokens", GgufValue.of(new String[] {"a", "b", "ab"}),
                        "tokenizer.ggml.merges", GgufValue.of(new String[] {"a b"})));
        var tokenizer = Tokenizers.create(small, TextTestData.PROVIDERS);
        assertEquals(2, tokenizer.encode("ab", false, false)[0]);
        TenonException e = assertThrows(TenonException.class, () -> tokenizer.encode("abc", false, false));
        assertEquals(ErrorCode.MODEL_TOKENIZER, e.code());
    }

    @Test
    void noProviderIsAReasonOfItsOwn() {
        TenonException e = assertThrows(UnsupportedModelException.class, () -> Tokenizers.create(BPE, List.of()));
        assertTrue(e.getMessage().contains("none"), e.getMessage());
    }
}
