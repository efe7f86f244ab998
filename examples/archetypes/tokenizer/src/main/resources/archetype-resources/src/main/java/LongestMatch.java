package ${package};

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// From left to right the longest token that the text goes on with; single bytes where there is none. Immutable and
/// safe for any thread.
final class LongestMatch implements Tokenizer {
    private static final int CONTROL = 3;
    private static final int BYTE = 6;

    private final String[] pieces;
    private final long[] types;
    private final byte[][] bytes;
    private final int[] ofByte = new int[256];
    /// Tokens by the bytes that they stand for, one char a byte; and control tokens by their text.
    private final Map<String, Integer> texts = new HashMap<>();
    private final Map<String, Integer> controls = new HashMap<>();
    private final int longest;
    private final OptionalInt bos;
    private final OptionalInt eos;
    private final boolean addsBos;

    /// Reads the vocabulary of a file.
    ///
    /// @throws ModelFormatException (`MODEL-001`, `MODEL-008`) if it is missing, or lacks a byte
    LongestMatch(GgufMetadata metadata) {
        pieces = metadata.strings("tokenizer.ggml.tokens")
                .orElseThrow(() -> metadata.missing("tokenizer.ggml.tokens"));
        types = metadata.integers("tokenizer.ggml.token_type")
                .filter(all -> all.length == pieces.length)
                .orElseThrow(() -> metadata.missing("tokenizer.ggml.token_type"));
        bytes = new byte[pieces.length][];
        Arrays.fill(ofByte, -1);
        int most = 0;
        for (int id = 0; id < pieces.length; id++) {
            bytes[id] = read(id);
            most = Math.max(most, bytes[id].length);
        }
        longest = most;
        for (int each = 0; each < ofByte.length; each++) {
            if (ofByte[each] < 0) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_TOKENIZER,
                        "No token of " + metadata.source() + " is the byte " + each + "; expected one for each byte");
            }
        }
        bos = metadata.integer("tokenizer.ggml.bos_token_id");
        eos = metadata.integer("tokenizer.ggml.eos_token_id");
        addsBos = bos.isPresent() && metadata.bool("tokenizer.ggml.add_bos_token").orElse(true);
    }

    private byte[] read(int id) {
        if (types[id] == CONTROL) {
            controls.put(pieces[id], id);
            return new byte[0];
        }
        if (types[id] == BYTE && pieces[id].matches("<0x[0-9A-F]{2}>")) {
            int value = Integer.parseInt(pieces[id].substring(3, 5), 16);
            ofByte[value] = id;
            return new byte[] {(byte) value};
        }
        byte[] text = pieces[id].getBytes(StandardCharsets.UTF_8);
        texts.putIfAbsent(key(text, 0, text.length), id);
        return text;
    }

    private static String key(byte[] text, int from, int to) {
        return new String(text, from, to - from, StandardCharsets.ISO_8859_1);
    }

    @Override
    public int vocabularySize() {
        return pieces.length;
    }

    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        return encode(text, addSpecial, parseSpecial, new int[0]);
    }

    @Override
    public int[] encode(String text, boolean addSpecial, int[] borders) {
        return encode(text, addSpecial, true, borders);
    }

    private int[] encode(String text, boolean addSpecial, boolean parseSpecial, int[] borders) {
        IntStream.Builder ids = IntStream.builder();
        if (addSpecial && addsBos) {
            ids.add(bos.getAsInt());
        }
        int plain = 0; // where the text begins that is not encoded yet
        for (int at = 0; parseSpecial && at < text.length(); at++) {
            String control = control(text, at, borders);
            if (control != null) {
                match(text.substring(plain, at), ids);
                ids.add(controls.get(control));
                plain = at + control.length();
                at = plain - 1;
            }
        }
        match(text.substring(plain), ids);
        return ids.build().toArray();
    }

    /// The longest control token that is written at a place of a text and spans no border, or null.
    private String control(String text, int at, int[] borders) {
        String found = null;
        for (String control : controls.keySet()) {
            if (text.startsWith(control, at) && (found == null || control.length() > found.length())) {
                int end = at + control.length();
                if (Arrays.stream(borders).noneMatch(border -> border > at && border < end)) {
                    found = control;
                }
            }
        }
        return found;
    }

    private void match(String part, IntStream.Builder ids) {
        byte[] text = part.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < text.length; ) {
            int id = ofByte[text[at] & 0xff];
            for (int end = Math.min(text.length, at + longest); end > at; end--) {
                Integer token = texts.get(key(text, at, end));
                if (token != null) {
                    id = token;
                    break;
                }
            }
            ids.add(id);
            at += bytes[id].length;
        }
    }

    @Override
    public byte[] bytes(int id) {
        return bytes[checked(id)].clone();
    }

    @Override
    public String piece(int id) {
        return pieces[checked(id)];
    }

    private int checked(int id) {
        if (id < 0 || id >= pieces.length) {
            throw new IllegalArgumentException("Token " + id + " is none of 0 to " + (pieces.length - 1));
        }
        return id;
    }

    @Override
    public StreamDecoder decoder() {
        return new WholeCharacters(this);
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return eos.isPresent() && eos.getAsInt() == id;
    }

    @Override
    public boolean isControl(int id) {
        return id >= 0 && id < types.length && types[id] == CONTROL;
    }

    @Override
    public OptionalInt bos() {
        return bos;
    }

    @Override
    public OptionalInt eos() {
        return eos;
    }

    @Override
    public boolean addsBos() {
        return addsBos;
    }
}
