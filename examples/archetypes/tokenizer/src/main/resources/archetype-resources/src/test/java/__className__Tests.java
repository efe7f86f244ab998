package ${package};

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.itest.testkit.TokenizerContract;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ${className}Tests extends TokenizerContract {
    private static final String TOKENS = "tokenizer.ggml.tokens";
    private static final String TYPES = "tokenizer.ggml.token_type";

    @Override
    protected TokenizerProvider provider() {
        return new ${className}();
    }

    /// The contract's vocabulary of bytes and, after them, some tokens of several.
    @Override
    protected GgufMetadata metadata() {
        GgufMetadata small = byteVocabulary("${id}");
        String[] more = {"on", "once", " upon", "🙂"};
        String[] tokens = small.strings(TOKENS).orElseThrow();
        long[] types = small.integers(TYPES).orElseThrow();
        int size = tokens.length;
        tokens = Arrays.copyOf(tokens, size + more.length);
        types = Arrays.copyOf(types, size + more.length);
        System.arraycopy(more, 0, tokens, size, more.length);
        Arrays.fill(types, size, types.length, 1);
        Map<String, GgufValue> values = new LinkedHashMap<>(small.values());
        values.put(TOKENS, GgufValue.of(tokens));
        values.put(TYPES, new GgufValue(GgufType.ARRAY, GgufType.INT32, types));
        return GgufMetadata.of("a small vocabulary", values);
    }

    @Test
    void theLongestTokenIsTaken() {
        Tokenizer tokenizer = provider().create(metadata());
        int first = 3 + 256 + 1;
        assertArrayEquals(
                new int[] {first + 1, first + 2, first, 3 + 'x'}, tokenizer.encode("once upononx", false, false));
        assertArrayEquals(new int[] {1, 1, first, 2}, tokenizer.encode("<s>on</s>", true, true));
    }
}
