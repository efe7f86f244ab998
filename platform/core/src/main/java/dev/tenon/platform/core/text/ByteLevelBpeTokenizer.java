package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.core.text.words.PreTokenizer;
import dev.tenon.platform.core.text.words.PreTokenizers;
import org.slf4j.LoggerFactory;

/// Byte-level byte-pair encoding, as GPT-2, Llama 3 and Qwen use it (`tokenizer.ggml.model` = `gpt2`).
///
/// Source: Sennrich et al. 2016 (merges by rank), Radford et al. 2019 (bytes as symbols).
final class ByteLevelBpeTokenizer extends VocabularyTokenizer {
    private final MergeTable merges;
    private final PreTokenizer splitter;
    private final boolean wholeWords;
    private final WordCache cache = new WordCache();

    /// Reads a tokenizer; one that merges characters where the pre-tokenizer is of such a vocabulary.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    /// @throws dev.tenon.api.error.UnsupportedModelException if the pre-tokenizer is unknown
    static VocabularyTokenizer of(GgufMetadata metadata) {
        String name = metadata.string("tokenizer.ggml.pre").orElse(null);
        if (name == null) {
            LoggerFactory.getLogger(ByteLevelBpeTokenizer.class)
                    .warn(
                            "Metadata key tokenizer.ggml.pre is missing in {}; words are cut by the rules of"
                                    + " \"default\", which may not be the model's. Convert the model again.",
                            metadata.source());
            name = "default";
        }
        PreTokenizers.Rules rules = PreTokenizers.of(name, metadata.source());
        if (rules.characters()) {
            return RawBpeTokenizer.of(metadata, rules);
        }
        Vocabulary vocabulary = new Vocabulary(metadata, new Vocabulary.Defaults(rules.addBos(), -1, false, -1));
        return new ByteLevelBpeTokenizer(vocabulary, new MergeTable(metadata, vocabulary), rules);
    }

    private ByteLevelBpeTokenizer(Vocabulary vocabulary, MergeTable merges, PreTokenizers.Rules rules) {
        super(vocabulary);
        this.merges = merges;
        splitter = rules.splitter();
        wholeWords = rules.wholeWords();
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return new TextEncoder(text, out);
    }

    @Override
    byte[] textBytes(int id) {
        return ByteAlphabet.decode(vocabulary().text(id));
    }

    @Override
    boolean dropsSpace() {
        return false;
    }

    /// Encodes the words of one text.
    private final class TextEncoder implements Encoder, PreTokenizer.Words, WordCache.WordEncoder {
        private final String text;
        private final IntList out;
        private final BpeMerger merger = new BpeMerger(merges);
        private byte[] bytes = new byte[64];

        TextEncoder(String text, IntList out) {
            this.text = text;
            this.out = out;
        }

        @Override
        public void encode(int from, int to) {
            splitter.split(text, from, to, this);
        }

        @Override
        public void word(int from, int to) {
            cache.encode(text, from, to, out, this);
        }

        @Override
        public void encodeWord(int from, int to) {
            int n = utf8(from, to);
            if (wholeWords) {
                int id = vocabulary().table().findBytes(bytes, n);
                if (id >= 0 && vocabulary().isText(id)) {
                    out.add(id);
                    return;
                }
            }
            int count = merger.merge(bytes, n);
            for (int i = 0; i < count; i++) {
                addSymbol(merger.symbol(i));
            }
        }

        private void addSymbol(int symbol) {
            if (symbol < vocabularySize()) {
                out.add(symbol);
                return;
            }
            String chars = merges.extraText(symbol);
            for (int i = 0; i < chars.length(); i++) {
                int b = ByteAlphabet.byteOf(chars.charAt(i));
                int single = b < 0 ? vocabularySize() : merges.byteSymbol((byte) b);
                int id = single < vocabularySize() ? single : vocabulary().unknown();
                if (id < 0) {
                    throw Vocabulary.broken("The vocabulary of " + vocabulary().source() + " has no token for the byte "
                            + b + " and none for what is unknown; expected a token for every byte");
                }
                out.add(id);
            }
        }

        /// Writes a part of the text as UTF-8 to `bytes`.
        private int utf8(int from, int to) {
            if (bytes.length < 3L * (to - from)) {
                bytes = new byte[Math.toIntExact(Math.min(Integer.MAX_VALUE - 8, 3L * (to - from)))];
            }
            int n = 0;
            for (int i = from; i < to; i++) {
                int c = text.charAt(i);
                if (c < 0x80) {
                    bytes[n++] = (byte) c;
                } else if (c < 0x800) {
                    bytes[n++] = (byte) (0xc0 | c >> 6);
                    bytes[n++] = (byte) (0x80 | c & 0x3f);
                } else if (Character.isHighSurrogate((char) c)) {
                    int codePoint = text.codePointAt(i++);
                    bytes[n++] = (byte) (0xf0 | codePoint >> 18);
                    bytes[n++] = (byte) (0x80 | codePoint >> 12 & 0x3f);
                    bytes[n++] = (byte) (0x80 | codePoint >> 6 & 0x3f);
                    bytes[n++] = (byte) (0x80 | codePoint & 0x3f);
                } else {
                    bytes[n++] = (byte) (0xe0 | c >> 12);
                    bytes[n++] = (byte) (0x80 | c >> 6 & 0x3f);
                    bytes[n++] = (byte) (0x80 | c & 0x3f);
                }
            }
            return n;
        }
    }
}
