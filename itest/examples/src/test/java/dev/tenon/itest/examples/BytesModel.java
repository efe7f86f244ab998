package dev.tenon.itest.examples;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.itest.testkit.TokenizerContract;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/// A model with another tokenizer: its first tokens are the bytes of [TokenizerContract#byteVocabulary].
final class BytesModel {
    private static final String TOKENIZER = "tokenizer.";
    private static final String TOKENS = "tokenizer.ggml.tokens";
    private static final String TYPES = "tokenizer.ggml.token_type";

    private BytesModel() {}

    /// Writes it.
    ///
    /// @param source a model with more tokens
    /// @param target where
    /// @param tokenizer the value of `tokenizer.ggml.model`
    static void write(Path source, Path target, String tokenizer) throws IOException {
        TinyGguf written = new TinyGguf();
        try (GgufFile file = GgufReader.open(source, TensorTypes.standard())) {
            Map<String, GgufValue> values = new TreeMap<>(file.metadata().values());
            int size = file.metadata().strings(TOKENS).orElseThrow().length;
            values.keySet().removeIf(key -> key.startsWith(TOKENIZER));
            written.putAll(values).putAll(vocabulary(tokenizer, size));
            for (TensorInfo tensor : file.tensors()) {
                byte[] data = file.data(tensor).toArray(ValueLayout.JAVA_BYTE);
                written.tensor(tensor.name(), tensor.ggmlType(), tensor.shape(), data);
            }
        }
        written.write(target);
    }

    private static Map<String, GgufValue> vocabulary(String tokenizer, int size) {
        GgufMetadata bytes = TokenizerContract.byteVocabulary(tokenizer);
        Map<String, GgufValue> values = new TreeMap<>(bytes.values());
        String[] tokens = bytes.strings(TOKENS).orElseThrow();
        long[] types = bytes.integers(TYPES).orElseThrow();
        int first = tokens.length;
        tokens = Arrays.copyOf(tokens, size);
        types = Arrays.copyOf(types, size);
        for (int id = first; id < size; id++) {
            tokens[id] = "[" + id + "]";
            types[id] = 1;
        }
        values.put(TOKENS, GgufValue.of(tokens));
        values.put(TYPES, new GgufValue(GgufType.ARRAY, GgufType.INT32, types));
        values.put("tokenizer.ggml.scores", GgufValue.of(new float[size]));
        return values;
    }
}
