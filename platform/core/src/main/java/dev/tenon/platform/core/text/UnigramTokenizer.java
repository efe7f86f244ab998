package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// SentencePiece unigram, as T5 and XLM-RoBERTa use it (`tokenizer.ggml.model` = `t5`): of all ways to cut a
/// text into tokens the one with the largest sum of scores.
///
/// The text is normalised by the map of the file ([CharsMap]), runs of blanks become one, a blank is put in
/// front, and blanks are written `▁` (U+2581). Characters without a token become the unknown token, neighbours
/// of them one. Source: Kudo 2018; Viterbi 1967.
final class UnigramTokenizer extends VocabularyTokenizer {
    private static final char BLANK = '\u2581';
    private static final String PREFIX = "tokenizer.ggml.";
    /// How much worse a character without a token is than the worst token.
    private static final float UNKNOWN_PENALTY = 10;

    private final float[] scores;
    private final double unknownScore;
    private final int maxChars; // of any token
    private final CharsMap map;
    private final boolean oneBlank;
    private final boolean spacePrefix;

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static UnigramTokenizer of(GgufMetadata metadata) {
        Vocabulary vocabulary = new Vocabulary(metadata, new Vocabulary.Defaults(false, -1, true, 1));
        if (vocabulary.unknown() < 0) {
            throw metadata.missing(PREFIX + "unknown_token_id");
        }
        return new UnigramTokenizer(metadata, vocabulary);
    }

    private UnigramTokenizer(GgufMetadata metadata, Vocabulary vocabulary) {
        super(vocabulary);
        scores = vocabulary.scores(metadata);
        map = CharsMap.of(metadata, PREFIX + "precompiled_charsmap");
        oneBlank = metadata.bool(PREFIX + "remove_extra_whitespaces").orElse(true);
        spacePrefix = metadata.bool(PREFIX + "add_space_prefix").orElse(true);
        int longest = 1;
        float least = 0;
        for (int id = 0; id < scores.length; id++) {
            if (vocabulary.type(id) == Vocabulary.USER_DEFINED) {
                scores[id] = 0; // taken wherever it stands
            }
            if (vocabulary.isText(id)) {
                longest = Math.max(longest, vocabulary.text(id).length());
                least = Math.min(least, scores[id]);
            }
        }
        maxChars = longest;
        unknownScore = least - UNKNOWN_PENALTY;
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return (from, to) -> encode(normalised(text.substring(from, to)), out);
    }

    /// Blanks at both ends go with the runs.
    private String normalised(String text) {
        String mapped = map.apply(text);
        StringBuilder result = new StringBuilder(mapped.length() + 1);
        boolean blank = spacePrefix;
        for (int i = 0; i < mapped.length(); i++) {
            char c = mapped.charAt(i);
            if (c == ' ' && oneBlank) {
                blank |= !result.isEmpty();
                continue;
            }
            if (blank) {
                result.append(BLANK);
                blank = false;
            }
            result.append(c == ' ' ? BLANK : c);
        }
        return result.toString();
    }

    private void encode(String text, IntList out) {
        int n = text.length();
        double[] best = new double[n + 1]; // of the text up to here
        int[] token = new int[n + 1]; // its last token
        int[] start = new int[n + 1]; // where that begins
        Arrays.fill(best, 1, n + 1, Double.NEGATIVE_INFINITY);
        for (int at = 0; at < n; at += Character.charCount(text.codePointAt(at))) {
            int next = at + Character.charCount(text.codePointAt(at));
            int hash = 0;
            boolean single = false;
            for (int end = at + 1; end <= Math.min(n, at + maxChars); end++) {
                hash = 31 * hash + text.charAt(end - 1);
                int id = vocabulary().table().find(text, at, end, hash);
                if (id >= 0 && vocabulary().isText(id)) {
                    single |= end == next;
                    reach(best, token, start, at, end, id, scores[id]);
                }
            }
            if (!single) {
                reach(best, token, start, at, next, vocabulary().unknown(), unknownScore);
            }
        }
        addPath(n, token, start, out);
    }

    private static void reach(double[] best, int[] token, int[] start, int at, int end, int id, double score) {
        if (best[at] + score > best[end]) {
            best[end] = best[at] + score;
            token[end] = id;
            start[end] = at;
        }
    }

    private void addPath(int n, int[] token, int[] start, IntList out) {
        int[] path = new int[n];
        int count = 0;
        for (int at = n; at > 0; at = start[at]) {
            boolean again = token[at] == vocabulary().unknown() && count > 0 && path[count - 1] == token[at];
            if (!again) {
                path[count++] = token[at];
            }
        }
        while (count > 0) {
            out.add(path[--count]);
        }
    }

    @Override
    byte[] textBytes(int id) {
        return vocabulary().text(id).replace(BLANK, ' ').getBytes(StandardCharsets.UTF_8);
    }

    @Override
    boolean dropsSpace() {
        return spacePrefix;
    }
}
