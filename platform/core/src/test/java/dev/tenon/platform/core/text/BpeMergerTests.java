package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Compares merging by scan and by queue with a slow way that works on texts.
class BpeMergerTests {
    private static List<String> slowly(String word, Map<String, Integer> ranks) {
        List<String> parts = new ArrayList<>(Arrays.asList(word.split("")));
        while (true) {
            int best = -1;
            int least = Integer.MAX_VALUE;
            for (int i = 0; i + 1 < parts.size(); i++) {
                int rank = ranks.getOrDefault(parts.get(i) + " " + parts.get(i + 1), Integer.MAX_VALUE);
                if (rank < least) {
                    least = rank;
                    best = i;
                }
            }
            if (best < 0) {
                return parts;
            }
            parts.set(best, parts.get(best) + parts.remove(best + 1));
        }
    }

    @Test
    void shortAndLongWordsAreMergedInOrderOfRank() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            List<String> tokens = new ArrayList<>(List.of("a", "b", "c"));
            List<String> merges = new ArrayList<>();
            Map<String, Integer> ranks = new HashMap<>();
            for (int i = 0; i < 30; i++) {
                String left = tokens.get(random.nextInt(tokens.size()));
                String right = tokens.get(random.nextInt(tokens.size()));
                if (ranks.putIfAbsent(left + " " + right, merges.size()) == null) {
                    merges.add(left + " " + right);
                    if (!tokens.contains(left + right)) {
                        tokens.add(left + right);
                    }
                }
            }
            Tokenizer tokenizer = tokenizer(tokens, merges);
            for (int n : new int[] {1, 2, 3, 7, 23, 24, 25, 26, 60, 300}) {
                StringBuilder word = new StringBuilder();
                for (int i = 0; i < n; i++) {
                    word.append((char) ('a' + random.nextInt(3)));
                }
                List<String> found = new ArrayList<>();
                for (int id : tokenizer.encode(word.toString(), false, false)) {
                    found.add(tokenizer.piece(id));
                }
                assertEquals(slowly(word.toString(), ranks), found, "seed " + seed + ", length " + n);
            }
        }
    }

    @Test
    void mergesThroughTextsThatAreNoTokensAreFollowed() {
        Tokenizer tokenizer = tokenizer(List.of("a", "b", "c", "d", "abc"), List.of("a b", "ab c", "c d"));
        assertEquals("[4, 3]", Arrays.toString(tokenizer.encode("abcd", false, false)));
        assertEquals("[0, 1]", Arrays.toString(tokenizer.encode("ab", false, false)));
    }

    private static Tokenizer tokenizer(List<String> tokens, List<String> merges) {
        GgufMetadata metadata = GgufMetadata.of(
                "test",
                Map.of(
                        "tokenizer.ggml.model", GgufValue.of("gpt2"),
                        "tokenizer.ggml.pre", GgufValue.of("gpt-2"),
                        "tokenizer.ggml.tokens", GgufValue.of(tokens.toArray(String[]::new)),
                        "tokenizer.ggml.merges", GgufValue.of(merges.toArray(String[]::new))));
        return Tokenizers.create(metadata, TextTestData.PROVIDERS);
    }
}
