package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.core.gguf.TokenIds;
import dev.tenon.platform.core.text.words.BertWords;
import java.nio.charset.StandardCharsets;

/// WordPiece, as BERT uses it (`tokenizer.ggml.model` = `bert`): words are cut by the longest tokens from
/// their start on; a word that tokens do not cover is one unknown token.
///
/// A token that begins a word is written with `▁` (U+2581) in front. The text is lower-cased and loses its
/// accents unless the file says otherwise, so that decoding does not give it back.
/// Source: Devlin et al. 2018; Wu et al. 2016.
final class WordPieceTokenizer extends VocabularyTokenizer {
    private static final String PREFIX = "tokenizer.ggml.";

    private final BertWords words;
    private final int maxChars; // of any token
    private final WordCache cache = new WordCache();

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken, or has no token
    ///     for the start or end of a text or for unknown words
    static WordPieceTokenizer of(GgufMetadata metadata) {
        int first = TokenIds.find(metadata, PREFIX + "cls_token_id").orElse(101);
        int last = TokenIds.find(metadata, PREFIX + "seperator_token_id").orElse(102); // spelt so in GGUF
        Vocabulary vocabulary = new Vocabulary(metadata, new Vocabulary.Defaults(true, first, true, last));
        if (vocabulary.bos() < 0) {
            throw metadata.missing(PREFIX + "bos_token_id");
        }
        if (vocabulary.eos() < 0) {
            throw metadata.missing(PREFIX + "eos_token_id");
        }
        if (vocabulary.unknown() < 0) {
            throw metadata.missing(PREFIX + "unknown_token_id");
        }
        return new WordPieceTokenizer(metadata, vocabulary);
    }

    private WordPieceTokenizer(GgufMetadata metadata, Vocabulary vocabulary) {
        super(vocabulary);
        boolean lower = metadata.bool(PREFIX + "normalizer.lowercase").orElse(true);
        boolean strip = metadata.bool(PREFIX + "normalizer.strip_accents").orElse(lower);
        words = new BertWords(lower, strip);
        int longest = 1;
        for (int id = 0; id < vocabulary.size(); id++) {
            longest = Math.max(longest, vocabulary.text(id).length());
        }
        maxChars = longest;
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return (from, to) -> {
            String marked = words.of(text.substring(from, to));
            WordCache.WordEncoder pieces = (a, b) -> encodeWord(marked, a, b, out);
            for (int at = 0; at < marked.length(); ) {
                int next = marked.indexOf(BertWords.START, at + 1);
                int end = next < 0 ? marked.length() : next;
                cache.encode(marked, at, end, out, pieces);
                at = end;
            }
        };
    }

    private void encodeWord(String text, int from, int to, IntList out) {
        IntList pieces = new IntList(8);
        for (int at = from; at < to; ) {
            int end = longestPiece(text, at, to, pieces);
            if (end < 0) {
                out.add(vocabulary().unknown());
                return;
            }
            at = end;
        }
        out.addAll(pieces.toArray());
    }

    /// Adds the longest token that begins at a place.
    ///
    /// @return where it ends, or -1 if there is none
    private int longestPiece(String text, int at, int to, IntList pieces) {
        int most = Math.min(to, at + maxChars);
        int hash = 0;
        int found = -1;
        int end = -1;
        for (int i = at; i < most; i++) {
            hash = 31 * hash + text.charAt(i);
            int id = vocabulary().table().find(text, at, i + 1, hash);
            if (id >= 0 && vocabulary().isText(id)) {
                found = id;
                end = i + 1;
            }
        }
        if (found >= 0) {
            pieces.add(found);
        }
        return end;
    }

    @Override
    byte[] textBytes(int id) {
        return vocabulary().text(id).replace(BertWords.START, ' ').getBytes(StandardCharsets.UTF_8);
    }

    @Override
    boolean dropsSpace() {
        return true;
    }
}
