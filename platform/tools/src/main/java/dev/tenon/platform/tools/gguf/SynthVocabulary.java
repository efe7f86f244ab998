package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import java.util.Arrays;
import java.util.Map;

/// Makes up a byte-level BPE vocabulary: 256 byte tokens, words that no merge leads to, three special
/// tokens.
final class SynthVocabulary {
    private static final int NORMAL = 1;
    private static final int CONTROL = 3;

    private SynthVocabulary() {}

    /// Adds the tokenizer's metadata.
    ///
    /// @param keys gets the keys
    /// @param n how many tokens
    static void put(Map<String, GgufValue> keys, int n) {
        String[] tokens = new String[n];
        long[] types = new long[n];
        Arrays.fill(types, NORMAL);
        int next = 0;
        for (int b = 0; b < 256; b++) {
            tokens[next++] = String.valueOf(charOf(b));
        }
        for (int word = 0; next < n - 3; word++) {
            tokens[next++] = word(word);
        }
        String[] special = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
        for (String token : special) {
            types[next] = CONTROL;
            tokens[next++] = token;
        }
        keys.put("tokenizer.ggml.model", GgufValue.of("gpt2"));
        keys.put("tokenizer.ggml.pre", GgufValue.of("qwen2"));
        keys.put("tokenizer.ggml.tokens", GgufValue.of(tokens));
        keys.put("tokenizer.ggml.token_type", GgufValue.ofInt32Array(types));
        keys.put("tokenizer.ggml.merges", GgufValue.of(new String[0]));
        keys.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(n - 3));
        keys.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(n - 1));
        keys.put("tokenizer.ggml.padding_token_id", GgufValue.ofUint32(n - 3));
        keys.put("tokenizer.ggml.add_bos_token", GgufValue.of(false));
        keys.put(
                "tokenizer.chat_template",
                GgufValue.of("{%- for m in messages -%}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
                        + "{% endfor %}{%- if add_generation_prompt -%}<|im_start|>assistant\n{% endif %}"));
    }

    /// The character by which byte-level BPE writes a byte: itself if it is printable Latin-1, else one
    /// from U+0100 on.
    static char charOf(int b) {
        if (isPrintable(b)) {
            return (char) b;
        }
        int before = 0;
        for (int other = 0; other < b; other++) {
            before += isPrintable(other) ? 0 : 1;
        }
        return (char) (0x100 + before);
    }

    private static boolean isPrintable(int b) {
        return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE;
    }

    /// A blank and two or more letters; each index gives another word.
    private static String word(int index) {
        StringBuilder letters = new StringBuilder();
        int rest = index + 26;
        while (rest >= 0) {
            letters.append((char) ('a' + rest % 26));
            rest = rest / 26 - 1;
        }
        return charOf(' ') + letters.reverse().toString();
    }
}
