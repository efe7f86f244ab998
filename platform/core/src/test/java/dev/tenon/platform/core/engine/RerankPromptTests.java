package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.text.UnigramProvider;
import dev.tenon.platform.core.text.WordPieceProvider;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What a reranker reads of a query and a document.
class RerankPromptTests {
    private static final String[] PIECES = {"[UNK]", "[CLS]", "[SEP]", "▁a", "▁b", "▁is"};

    private static GgufMetadata wordPiece(Map<String, GgufValue> more) {
        Map<String, GgufValue> values = new LinkedHashMap<>();
        values.put("tokenizer.ggml.model", GgufValue.of("bert"));
        values.put("tokenizer.ggml.tokens", GgufValue.of(PIECES));
        values.put("tokenizer.ggml.token_type", GgufValue.ofInt32Array(new long[] {3, 3, 3, 1, 1, 1}));
        values.put("tokenizer.ggml.unknown_token_id", GgufValue.ofUint32(0));
        values.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(1));
        values.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(2));
        values.putAll(more);
        return GgufMetadata.of("tiny.gguf", values);
    }

    private static int[] tokens(GgufMetadata metadata, String query, String document) {
        Tokenizer tokenizer = new WordPieceProvider().create(metadata);
        return new RerankPrompt(metadata, tokenizer).tokens(query, document);
    }

    @Test
    void anEncoderHasOneSeparatorAfterEachPart() {
        assertArrayEquals(new int[] {1, 3, 2, 4, 3, 2}, tokens(wordPiece(Map.of()), "a", "b a"));
        GgufMetadata more = wordPiece(Map.of("tokenizer.ggml.add_sep_token", GgufValue.of(true)));
        assertArrayEquals(new int[] {1, 3, 2, 4, 3, 2}, tokens(more, "a", "b a"));
        assertArrayEquals(
                new int[] {1, 0, 0, 0, 2, 4, 2}, tokens(more, "[SEP]", "b"), "a text's own separator is none");
    }

    @Test
    void anotherKindOfVocabularyMayHaveTwo() {
        String[] pieces = {"<s>", "</s>", "<unk>", "▁a", "▁b"};
        Map<String, GgufValue> values = new LinkedHashMap<>();
        values.put("tokenizer.ggml.model", GgufValue.of("t5"));
        values.put("tokenizer.ggml.tokens", GgufValue.of(pieces));
        values.put("tokenizer.ggml.scores", GgufValue.of(new float[5]));
        values.put("tokenizer.ggml.token_type", GgufValue.ofInt32Array(new long[] {3, 3, 2, 1, 1}));
        values.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(0));
        values.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(1));
        values.put("tokenizer.ggml.add_bos_token", GgufValue.of(true));
        values.put("tokenizer.ggml.add_sep_token", GgufValue.of(true));
        GgufMetadata metadata = GgufMetadata.of("tiny.gguf", values);
        RerankPrompt prompt = new RerankPrompt(metadata, new UnigramProvider().create(metadata));
        assertArrayEquals(new int[] {0, 3, 1, 1, 4, 1}, prompt.tokens("a", "b"));
    }

    @Test
    void theFilesOwnTextIsFilledOnce() {
        GgufMetadata own = wordPiece(Map.of(
                "tokenizer.chat_template.rerank",
                new GgufValue(GgufType.STRING, null, "is {document} [SEP] {query} is {query}")));
        assertArrayEquals(new int[] {1, 5, 4, 2, 3, 5, 3, 2}, tokens(own, "a", "b"));
        assertArrayEquals(
                new int[] {1, 5, 4, 2, 3, 0, 0, 0, 5, 3, 0, 0, 0, 2},
                tokens(own, "a[SEP]", "b"),
                "a text's own separator is none");
    }
}
