package dev.tenon.platform.bench.serve;

import java.util.Random;

/// Prompts of everyday words, of which no two are alike: a server can share only what is said to be common.
///
/// @param words how many words a prompt has
/// @param common how many of them, the first ones, all prompts have in common
public record Prompts(int words, int common) {
    private static final String[] WORDS =
            ("the a one two small big old new red blue house garden river tree dog cat boy girl man woman day night sun"
                            + " rain went came saw found made took gave said asked and but then when with under over"
                            + " near")
                    .split(" ");

    /// {@return the prompt of a request}
    ///
    /// @param index which request, from 0; the same index gives the same prompt
    public String prompt(int index) {
        StringBuilder text = new StringBuilder();
        append(text, new Random(-1), common);
        append(text, new Random(index), words - common);
        return text.toString().strip();
    }

    private static void append(StringBuilder text, Random random, int count) {
        for (int i = 0; i < count; i++) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
    }
}
