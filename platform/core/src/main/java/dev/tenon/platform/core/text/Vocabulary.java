package dev.tenon.platform.core.text;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.core.gguf.TokenIds;
import java.util.BitSet;
import java.util.OptionalInt;

/// The checked vocabulary of a GGUF file: token texts and types, and what the special ids are. Immutable.
final class Vocabulary {
    /// Token type of ordinary text.
    static final int NORMAL = 1;
    /// Token type of the token for what nothing else covers.
    static final int UNKNOWN = 2;
    /// Token type of tokens without text of their own.
    static final int CONTROL = 3;
    /// Token type of text that is always one token.
    static final int USER_DEFINED = 4;
    /// Token type of ids that stand for nothing.
    static final int UNUSED = 5;
    /// Token type of single bytes, written `<0x0A>`.
    static final int BYTE = 6;

    private static final String PREFIX = "tokenizer.ggml.";

    /// Texts that are known to end a turn or a text, in the vocabularies of the model families that are in
    /// use.
    private static final String[] END_TEXTS = {
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|end_of_text|>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<|eot|>",
        "<|eom|>",
        "<end_of_turn>",
        "<turn|>",
        "<eos>",
        "</s>",
        "<EOT>",
        "<|END_OF_TURN_TOKEN|>",
        "<end_of_utterance>",
        "<|role_end|>",
        "<|endofturn|>",
        "[EOS]",
        "[EOT]",
        "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"
    };

    /// What holds when a file does not say otherwise.
    ///
    /// @param addBos whether BOS is added
    /// @param bos BOS id if that token is a control token, or -1
    /// @param addEos whether EOS is added
    /// @param eos EOS id if that token is a control token, or -1
    record Defaults(boolean addBos, int bos, boolean addEos, int eos) {}

    private final String source;
    private final String[] texts;
    private final byte[] types;
    private final TokenTable table;
    private final SpecialTokens userDefined;
    private final SpecialTokens special;
    private final BitSet ends = new BitSet();
    private final int bos;
    private final int eos;
    private final int unknown;
    private final boolean addBos;
    private final boolean addEos;

    /// Reads and checks the keys that all kinds share.
    ///
    /// @param metadata metadata of the file
    /// @param defaults what holds for missing keys
    /// @throws ModelFormatException if tokens are missing or contradictory, or an id is out of range
    Vocabulary(GgufMetadata metadata, Defaults defaults) {
        source = metadata.source();
        String key = PREFIX + "tokens";
        texts = metadata.strings(key).orElse(null);
        if (texts == null) {
            throw metadata.missing(key);
        }
        if (texts.length == 0) {
            throw broken("Metadata key " + key + " in " + source + " holds no tokens; expected at least one");
        }
        types = types(metadata);
        table = new TokenTable(texts);
        bos = id(metadata, PREFIX + "bos_token_id", defaults.bos);
        eos = id(metadata, PREFIX + "eos_token_id", defaults.eos);
        int unk = id(metadata, PREFIX + "unknown_token_id", -1);
        IntList always = new IntList(16);
        IntList all = new IntList(64);
        for (int id = 0; id < texts.length; id++) {
            int type = types[id];
            if (type == USER_DEFINED) {
                always.add(id);
            }
            if (type == USER_DEFINED || type == CONTROL || type == UNKNOWN) {
                all.add(id);
            }
            if (type == UNKNOWN && unk < 0) {
                unk = id;
            }
        }
        unknown = unk;
        userDefined = new SpecialTokens(texts, always);
        special = new SpecialTokens(texts, all);
        addBos = adds(metadata, PREFIX + "add_bos_token", defaults.addBos, bos, PREFIX + "bos_token_id");
        addEos = adds(metadata, PREFIX + "add_eos_token", defaults.addEos, eos, PREFIX + "eos_token_id");
        findEnds(metadata);
    }

    private byte[] types(GgufMetadata metadata) {
        byte[] result = new byte[texts.length];
        String key = PREFIX + "token_type";
        long[] given = metadata.integers(key).orElse(null);
        if (given == null) {
            java.util.Arrays.fill(result, (byte) NORMAL);
            return result;
        }
        if (given.length != texts.length) {
            throw broken("Metadata key " + key + " in " + source + " has " + given.length + " entries; expected "
                    + texts.length + ", one for each token");
        }
        for (int id = 0; id < given.length; id++) {
            if (given[id] < 0 || given[id] > BYTE) {
                throw broken("Metadata key " + key + " in " + source + " gives token " + id + " the type " + given[id]
                        + "; expected 0 to " + BYTE);
            }
            result[id] = (byte) (given[id] == 0 ? NORMAL : given[id]);
        }
        return result;
    }

    /// {@return the score of each token}
    ///
    /// @param metadata metadata of the file
    /// @throws ModelFormatException if they are missing, or not one for each token
    float[] scores(GgufMetadata metadata) {
        String key = PREFIX + "scores";
        float[] scores = metadata.floats(key).orElse(null);
        if (scores == null) {
            throw metadata.missing(key);
        }
        if (scores.length != texts.length) {
            throw broken("Metadata key " + key + " in " + source + " has " + scores.length + " entries; expected "
                    + texts.length + ", one for each token");
        }
        return scores.clone();
    }

    private int id(GgufMetadata metadata, String key, int otherwise) {
        if (TokenIds.isNone(metadata, key)) {
            return -1;
        }
        OptionalInt id = metadata.integer(key);
        if (id.isEmpty()) {
            return otherwise >= 0 && otherwise < texts.length && types[otherwise] == CONTROL ? otherwise : -1;
        }
        if (id.getAsInt() >= texts.length) {
            throw broken("Metadata key " + key + " in " + source + " is " + id.getAsInt() + "; expected 0 to "
                    + (texts.length - 1) + ", since there are " + texts.length + " tokens");
        }
        return id.getAsInt();
    }

    private boolean adds(GgufMetadata metadata, String key, boolean otherwise, int id, String idKey) {
        boolean asked = metadata.bool(key).orElse(Boolean.FALSE);
        if (asked && !metadata.has(idKey) && id < 0) {
            throw metadata.missing(idKey);
        }
        return (metadata.has(key) ? asked : otherwise) && id >= 0;
    }

    private void findEnds(GgufMetadata metadata) {
        int[] given = {eos, id(metadata, PREFIX + "eot_token_id", -1), id(metadata, PREFIX + "eom_token_id", -1)};
        for (int id : given) {
            if (id >= 0) {
                ends.set(id);
            }
        }
        for (String text : END_TEXTS) {
            int id = table.find(text);
            if (id >= 0 && types[id] == CONTROL) {
                ends.set(id);
            }
        }
        if (isEnd("<|return|>") && isEnd("<|call|>") && isEnd("<|end|>")) {
            ends.clear(table.find("<|end|>")); // in the Harmony format it ends one of several messages of a turn
        }
    }

    private boolean isEnd(String text) {
        return isEndOfGeneration(table.find(text));
    }

    /// {@return an error that says that the vocabulary is broken}
    ///
    /// @param text what is wrong, without full stop
    static ModelFormatException broken(String text) {
        return new ModelFormatException(
                ErrorCode.MODEL_TOKENIZER, text + ". The vocabulary is broken: convert the model again.");
    }

    /// {@return what error messages call the file}
    String source() {
        return source;
    }

    int size() {
        return texts.length;
    }

    /// {@return the text of a token}
    ///
    /// @throws IllegalArgumentException if the id is out of range
    String text(int id) {
        return texts[checked(id)];
    }

    /// {@return the type of a token, 1 to 6}
    ///
    /// @throws IllegalArgumentException if the id is out of range
    int type(int id) {
        return types[checked(id)];
    }

    private int checked(int id) {
        if (id < 0 || id >= texts.length) {
            throw new IllegalArgumentException(
                    "Token id " + id + " is out of range; " + source + " has ids 0 to " + (texts.length - 1));
        }
        return id;
    }

    TokenTable table() {
        return table;
    }

    /// {@return whether a token can come out of merging: ordinary or user-defined text}
    boolean isText(int id) {
        return types[id] == NORMAL || types[id] == USER_DEFINED;
    }

    /// {@return the tokens to recognise in a text}
    ///
    /// @param parseSpecial whether control tokens are among them
    SpecialTokens special(boolean parseSpecial) {
        return parseSpecial ? special : userDefined;
    }

    boolean isEndOfGeneration(int id) {
        return id >= 0 && ends.get(id);
    }

    /// {@return the BOS id, or -1}
    int bos() {
        return bos;
    }

    /// {@return the EOS id, or -1}
    int eos() {
        return eos;
    }

    /// {@return the id for what nothing covers, or -1}
    int unknown() {
        return unknown;
    }

    boolean addsBos() {
        return addBos;
    }

    boolean addsEos() {
        return addEos;
    }
}
