package dev.tenon.platform.cli.main;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/// Bytes as tokens, and three control tokens.
public final class FakeTokenizer implements Tokenizer {
    public static final int BOS = 256;
    public static final int END = 257;
    public static final int START = 258;
    public static final int SIZE = 259;
    private static final List<String> CONTROL = List.of("<s>", "<|im_end|>", "<|im_start|>");

    private final boolean addsBos;

    public FakeTokenizer(boolean addsBos) {
        this.addsBos = addsBos;
    }

    @Override
    public int vocabularySize() {
        return SIZE;
    }

    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        List<Integer> ids = new ArrayList<>();
        if (addSpecial && addsBos) {
            ids.add(BOS);
        }
        int at = 0;
        while (at < text.length()) {
            int control = parseSpecial ? controlAt(text, at) : -1;
            if (control >= 0) {
                ids.add(256 + control);
                at += CONTROL.get(control).length();
            } else {
                int end = text.offsetByCodePoints(at, 1);
                for (byte b : text.substring(at, end).getBytes(StandardCharsets.UTF_8)) {
                    ids.add(b & 0xFF);
                }
                at = end;
            }
        }
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int controlAt(String text, int at) {
        for (int i = 0; i < CONTROL.size(); i++) {
            if (text.startsWith(CONTROL.get(i), at)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public byte[] bytes(int id) {
        return isControl(id) ? new byte[0] : new byte[] {(byte) id};
    }

    @Override
    public String piece(int id) {
        return isControl(id) ? CONTROL.get(id - 256) : new String(bytes(id), StandardCharsets.ISO_8859_1);
    }

    @Override
    public StreamDecoder decoder() {
        return new Utf8();
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return id == END;
    }

    @Override
    public boolean isControl(int id) {
        return id >= 256;
    }

    @Override
    public OptionalInt bos() {
        return OptionalInt.of(BOS);
    }

    @Override
    public OptionalInt eos() {
        return OptionalInt.of(END);
    }

    @Override
    public boolean addsBos() {
        return addsBos;
    }

    private final class Utf8 implements StreamDecoder {
        private final List<Byte> pending = new ArrayList<>();

        @Override
        public String next(int id) {
            for (byte b : bytes(id)) {
                pending.add(b);
            }
            String text = text();
            if (text.contains("\uFFFD")) {
                return "";
            }
            pending.clear();
            return text;
        }

        @Override
        public String finish() {
            String text = text();
            pending.clear();
            return text;
        }

        private String text() {
            byte[] bytes = new byte[pending.size()];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = pending.get(i);
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
