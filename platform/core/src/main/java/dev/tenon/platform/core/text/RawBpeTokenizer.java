package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.core.text.words.PreTokenizer;
import dev.tenon.platform.core.text.words.PreTokenizers;
import java.nio.charset.StandardCharsets;

/// Byte-pair encoding of characters, as Gemma 4 uses it (`tokenizer.ggml.model` = `gemma4`), and some
/// vocabularies of the kind `gpt2`: merges by rank as byte-level BPE has them, but of characters; one
/// without a token becomes byte tokens `<0x0A>`.
///
/// A blank is written `▁` (U+2581). Nothing is merged across the start or end of a run of line ends.
final class RawBpeTokenizer extends VocabularyTokenizer {
    private static final char BLANK = '\u2581';

    private final MergeTable merges;
    private final PreTokenizer splitter;
    private final ByteTokens byteTokens;

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @param rules how the words are made
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static RawBpeTokenizer of(GgufMetadata metadata, PreTokenizers.Rules rules) {
        Vocabulary vocabulary = new Vocabulary(metadata, new Vocabulary.Defaults(rules.addBos(), -1, false, -1));
        return new RawBpeTokenizer(vocabulary, new MergeTable(metadata, vocabulary), rules.splitter());
    }

    private RawBpeTokenizer(Vocabulary vocabulary, MergeTable merges, PreTokenizer splitter) {
        super(vocabulary);
        this.merges = merges;
        this.splitter = splitter;
        byteTokens = new ByteTokens(vocabulary);
    }

    @Override
    Encoder encoder(String text, IntList out) {
        BpeMerger merger = new BpeMerger(merges);
        return (from, to) -> splitter.split(
                text, from, to, (a, b) -> encodeRun(text.substring(a, b).replace(' ', BLANK), merger, out));
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
