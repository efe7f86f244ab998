package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.nio.charset.StandardCharsets;

/// SentencePiece BPE, as Llama 2, Mistral and Gemma use it (`tokenizer.ggml.model` = `llama`):
/// characters are merged by the score of the result, the highest first; characters without a token
/// become byte tokens `<0x0A>`.
///
/// A blank is written `▁` (U+2581), and one is put in front of the text unless the file says otherwise.
/// Source: Kudo and Richardson 2018.
final class SentencePieceTokenizer extends VocabularyTokenizer {
    private static final char BLANK = '\u2581';

    private final int[] order; // by id: lower is merged first
    private final ByteTokens byteTokens;
    private final int maxChars; // of any token
    private final int[] powers; // of 31, for hashes of parts of a text
    private final boolean spacePrefix;
    private final boolean words; // no token has a blank inside, so that no merge crosses the start of a word
    private final WordCache cache = new WordCache();

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static SentencePieceTokenizer of(GgufMetadata metadata) {
        return new SentencePieceTokenizer(
                metadata, new Vocabulary(metadata, new Vocabulary.Defaults(true, 1, false, 2)));
    }

    private SentencePieceTokenizer(GgufMetadata metadata, Vocabulary vocabulary) {
        super(vocabulary);
        float[] scores = vocabulary.scores(metadata);
        spacePrefix = metadata.bool("tokenizer.ggml.add_space_prefix").orElse(Boolean.TRUE);
        byteTokens = new ByteTokens(vocabulary);
        order = new int[scores.length];
        int longest = 1;
        boolean inner = false;
        for (int id = 0; id < scores.length; id++) {
            order[id] = order(scores[id]);
            String text = vocabulary.text(id);
            if (vocabulary.isText(id)) {
                longest = Math.max(longest, text.length());
                inner |= hasInnerBlank(text);
            }
        }
        words = !inner;
        maxChars = longest;
        powers = new int[longest + 1];
        powers[0] = 1;
        for (int i = 1; i <= longest; i++) {
            powers[i] = 31 * powers[i - 1];
        }
    }

    /// Maps scores to ints so that a higher score gives a lower int; NaN counts as the lowest score.
    private static int order(float score) {
        int bits = Float.floatToIntBits(Float.isNaN(score) ? Float.NEGATIVE_INFINITY : score + 0.0f);
        return ~(bits ^ (bits >> 31 & 0x7fffffff));
    }

    private static boolean hasInnerBlank(String text) {
        for (int i = text.indexOf(BLANK, 1); i > 0; i = text.indexOf(BLANK, i + 1)) {
            if (text.charAt(i - 1) != BLANK) {
                return true;
            }
        }
        return false;
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return new TextEncoder(text, out);
    }

    @Override
    byte[] textBytes(int id) {
        String text = vocabulary().text(id);
        return vocabulary().type(id) == Vocabulary.BYTE
                ? new byte[] {byteTokens.value(id)}
                : text.replace(BLANK, ' ').getBytes(StandardCharsets.UTF_8);
    }

    @Override
    boolean dropsSpace() {
        return spacePrefix;
    }

    /// Encodes the words of one text.
    private final class TextEncoder implements Encoder, WordCache.WordEncoder {
        private final String input;
        private final IntList out;
        private final LongHeap queue = new LongHeap();
        private String text; // the part at work, with its blanks written
        private int base; // where the word at work begins
        private int[] hashes = new int[64]; // of the word's first i chars
        private int[] start = new int[64]; // of each symbol
        private int[] end = new int[64];
        private int[] next = new int[64];
        private int[] previous = new int[64];
        private int[] merged = new int[64]; // token of the merge with the right neighbour, or -1

        TextEncoder(String input, IntList out) {
            this.input = input;
            this.out = out;
        }

        @Override
        public void encode(int from, int to) {
            String part = input.substring(from, to).replace(' ', BLANK);
            text = spacePrefix ? BLANK + part : part;
            int n = text.length();
            for (int at = 0; at < n; ) {
                int stop = words ? wordEnd(at, n) : n;
                cache.encode(text, at, stop, out, this);
                at = stop;
            }
        }

        private int wordEnd(int at, int n) {
            int i = at;
            while (i < n && text.charAt(i) == BLANK) {
                i++;
            }
            int blank = text.indexOf(BLANK, i);
            return blank < 0 ? n : blank;
        }

        @Override
        public void encodeWord(int from, int to) {
            int n = symbols(from, to);
            queue.clear();
            for (int i = 0; i + 1 < n; i++) {
                enqueue(i, i + 1);
            }
            while (!queue.isEmpty()) {
                long first = queue.poll();
                int left = (int) first;
                if (merged[left] < 0 || order[merged[left]] != (int) (first >> 32)) {
                    continue; // merged meanwhile, or its neighbour was
                }
                int right = next[left];
                end[left] = end[right];
                next[left] = next[right];
                merged[left] = -1;
                merged[right] = -1;
                if (next[left] < n) {
                    previous[next[left]] = left;
                    enqueue(left, next[left]);
                }
                if (previous[left] >= 0) {
                    enqueue(previous[left], left);
                }
            }
            for (int i = 0; i < n; i = next[i]) {
                int id = token(start[i], end[i]);
                if (id >= 0) {
                    out.add(id);
                } else {
                    byteTokens.add(text.substring(start[i], end[i]), out);
                }
            }
        }

        private int symbols(int from, int to) {
            int length = to - from;
            if (hashes.length <= length) {
                hashes = new int[length + 1];
                start = new int[length];
                end = new int[length];
                next = new int[length];
                previous = new int[length];
                merged = new int[length];
            }
            base = from;
            for (int i = 0; i < length; i++) {
                hashes[i + 1] = 31 * hashes[i] + text.charAt(from + i);
            }
            int n = 0;
            for (int at = from; at < to; n++) {
                start[n] = at;
                at += Character.charCount(text.codePointAt(at));
                end[n] = at;
                next[n] = n + 1;
                previous[n] = n - 1;
                merged[n] = -1;
            }
            return n;
        }

        private void enqueue(int left, int right) {
            merged[left] = token(start[left], end[right]);
            if (merged[left] >= 0) {
                queue.add((long) order[merged[left]] << 32 | left);
            }
        }

        private int token(int from, int to) {
            int length = to - from;
            if (length > maxChars) {
                return -1;
            }
            int hash = hashes[to - base] - hashes[from - base] * powers[length];
            int id = vocabulary().table().find(text, from, to, hash);
            return id >= 0 && vocabulary().isText(id) ? id : -1;
        }
    }
}
