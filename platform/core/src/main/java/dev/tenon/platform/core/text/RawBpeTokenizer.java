package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.nio.charset.StandardCharsets;

/// Byte-pair encoding of characters, as Gemma 4 uses it (`tokenizer.ggml.model` = `gemma4`): merges by rank as
/// byte-level BPE has them, but of characters; one without a token becomes byte tokens `<0x0A>`.
///
/// A blank is written `▁` (U+2581). Nothing is merged across the start or end of a run of line ends.
final class RawBpeTokenizer extends VocabularyTokenizer {
    private static final char BLANK = '\u2581';

    private final MergeTable merges;
    private final ByteTokens byteTokens;

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static RawBpeTokenizer of(GgufMetadata metadata) {
        Vocabulary vocabulary = new Vocabulary(metadata, new Vocabulary.Defaults(true, -1, false, -1));
        return new RawBpeTokenizer(vocabulary, new MergeTable(metadata, vocabulary));
    }

    private RawBpeTokenizer(Vocabulary vocabulary, MergeTable merges) {
        super(vocabulary);
        this.merges = merges;
        byteTokens = new ByteTokens(vocabulary);
    }

    @Override
    Encoder encoder(String text, IntList out) {
        BpeMerger merger = new BpeMerger(merges);
        return (from, to) -> {
            String part = text.substring(from, to).replace(' ', BLANK);
            for (int at = 0; at < part.length(); ) {
                boolean lines = part.charAt(at) == '\n';
                int end = at + 1;
                while (end < part.length() && (part.charAt(end) == '\n') == lines) {
                    end++;
                }
                encodeRun(part.substring(at, end), merger, out);
                at = end;
            }
        };
    }

    private void encodeRun(String run, BpeMerger merger, IntList out) {
        IntList symbols = new IntList(run.length());
        addCharacters(run, symbols);
        int count = merger.merge(symbols);
        for (int i = 0; i < count; i++) {
            int symbol = merger.symbol(i);
            if (symbol < vocabularySize()) {
                out.add(symbol);
            } else {
                addCharacters(merges.extraText(symbol), out);
            }
        }
    }

    /// Adds the token of each character, or those of its bytes.
    private void addCharacters(String text, IntList target) {
        for (int i = 0; i < text.length(); ) {
            int end = i + Character.charCount(text.codePointAt(i));
            String character = text.substring(i, end);
            int id = vocabulary().table().find(character);
            if (id >= 0 && vocabulary().isText(id)) {
                target.add(id);
            } else {
                byteTokens.add(character, target);
            }
            i = end;
        }
    }

    @Override
    byte[] textBytes(int id) {
        return vocabulary().type(id) == Vocabulary.BYTE
                ? new byte[] {byteTokens.value(id)}
                : vocabulary().text(id).replace(BLANK, ' ').getBytes(StandardCharsets.UTF_8);
    }

    @Override
    boolean dropsSpace() {
        return false;
    }
}
