package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Compares merging by score with a slow way that works on texts.
class SentencePieceMergeTests {
    private static List<String> slowly(String text, List<String> tokens, float[] scores) {
        List<String> parts = new ArrayList<>(Arrays.asList(text.split("")));
        while (true) {
            int best = -1;
            float most = Float.NEGATIVE_INFINITY;
            for (int i = 0; i + 1 < parts.size(); i++) {
                int id = tokens.indexOf(parts.get(i) + parts.get(i + 1));
                if (id >= 0 && scores[id] > most) {
                    most = scores[id];
                    best = i;
                }
            }
            if (best < 0) {
                return parts;
            }
            parts.set(best, parts.get(best) + parts.remove(best + 1));
        }
    }

    private static void compare(boolean innerBlanks) {
        for (int seed = 0; seed < 400; seed++) {
            Random random = new Random(seed);
            List<String> tokens = new ArrayList<>(List.of("<unk>", "a", "b", "\u2581"));
            for (int i = 0; i < 40; i++) {
                String text = tokens.get(1 + random.nextInt(tokens.size() - 1))
                        + tokens.get(1 + random.nextInt(tokens.size() - 1));
                boolean inner = text.matches(".*[ab]\u2581.*");
                if (text.length() < 12 && !tokens.contains(text) && (innerBlanks || !inner)) {
                    tokens.add(text);
                }
            }
            float[] scores = new float[tokens.size()];
            long[] types = new long[tokens.size()];
            Arrays.fill(types, Vocabulary.NORMAL);
            types[0] = Vocabulary.UNKNOWN;
            for (int i = 0; i < scores.length; i++) {
                scores[i] = (random.nextInt(20) - 10) * (random.nextInt(8) == 0 ? 0.0f : 0.5f);
            }
            Tokenizer tokenizer = Tokenizers.create(
                    GgufMetadata.of(
                            "test",
                            Map.of(
                                    "tokenizer.ggml.model", GgufValue.of("llama"),
                                    "tokenizer.ggml.tokens", GgufValue.of(tokens.toArray(String[]::new)),
                                    "tokenizer.ggml.scores", GgufValue.of(scores),
                                    "tokenizer.ggml.token_type", GgufValue.ofInt32Array(types))),
                    TextTestData.PROVIDERS);
            for (int n : new int[] {0, 1, 2, 5, 20, 90}) {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < n; i++) {
                    text.append("ab ".charAt(random.nextInt(3)));
                }
                List<String> found = new ArrayList<>();
                for (int id : tokenizer.encode(text.toString(), false, false)) {
                    found.add(tokenizer.piece(id));
                }
                String written = n == 0 ? "" : "\u2581" + text.toString().replace(' ', '\u2581');
                List<String> expected = n == 0 ? List.of() : slowly(written, tokens, scores);
                assertEquals(expected, found, "seed " + seed + ", length " + n);
                assertEquals(text.toString(), tokenizer.decode(tokenizer.encode(text.toString(), true, false)));
            }
        }
    }

    @Test
    void wordsAreMergedInOrderOfScore() {
        compare(false);
    }

    @Test
    void tokensWithBlanksInsideAreMergedAcrossWords() {
        compare(true);
    }
}
