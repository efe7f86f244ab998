package dev.tenon.itest.testkit;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// The smallest tokenizer, for tests that need one: `<unk>` (0), the control tokens `<s>` (1) and
/// `</s>` (2), and a token for each byte, from 3.
public class ByteTokenizer implements Tokenizer {
    private static final List<String> NAMED = List.of("<unk>", "<s>", "</s>");
    private static final int FIRST_BYTE = NAMED.size();
    private static final int SIZE = FIRST_BYTE + 256;
    private static final int BOS = 1;
    private static final int EOS = 2;
    private static final int LONGEST_CHARACTER = 4;

    /// Makes one.
    public ByteTokenizer() {}

    @Override
    public int vocabularySize() {
        return SIZE;
    }

    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        IntStream.Builder ids = IntStream.builder();
        if (addSpecial) {
            ids.add(BOS);
        }
        for (int at = 0; at < text.length(); ) {
            int control = parseSpecial ? control(text, at) : -1;
            int end = at
                    + (control < 0
                            ? Character.charCount(text.codePointAt(at))
                            : piece(control).length());
            if (control < 0) {
                for (byte each : text.substring(at, end).getBytes(StandardCharsets.UTF_8)) {
                    ids.add(FIRST_BYTE + (each & 0xff));
                }
            } else {
                ids.add(control);
            }
            at = end;
        }
        return ids.build().toArray();
    }

    private int control(String text, int at) {
        return IntStream.range(0, FIRST_BYTE)
                .filter(id -> isControl(id) && text.startsWith(NAMED.get(id), at))
                .findFirst()
                .orElse(-1);
    }

    @Override
    public byte[] bytes(int id) {
        checked(id);
        return id < FIRST_BYTE ? new byte[0] : new byte[] {(byte) (id - FIRST_BYTE)};
    }

    @Override
    public String piece(int id) {
        checked(id);
        return id < FIRST_BYTE ? NAMED.get(id) : "<0x%02X>".formatted(id - FIRST_BYTE);
    }

    private static void checked(int id) {
        if (id < 0 || id >= SIZE) {
            throw new IllegalArgumentException("There is no token " + id + ", only 0 to " + (SIZE - 1));
        }
    }

    @Override
    public StreamDecoder decoder() {
        return new StreamDecoder() {
            private byte[] kept = {};

            @Override
            public String next(int id) {
                byte[] more = bytes(id);
                byte[] all = Arrays.copyOf(kept, kept.length + more.length);
                System.arraycopy(more, 0, all, kept.length, more.length);
                String text = new String(all, StandardCharsets.UTF_8);
                boolean whole = text.indexOf('\uFFFD') < 0 || all.length >= LONGEST_CHARACTER;
                kept = whole ? new byte[0] : all;
                return whole ? text : "";
            }

            @Override
            public String finish() {
                return kept.length == 0 ? "" : "\uFFFD";
            }
        };
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return id == EOS;
    }

    @Override
    public boolean isControl(int id) {
        return id == BOS || id == EOS;
    }

    @Override
    public OptionalInt bos() {
        return OptionalInt.of(BOS);
    }

    @Override
    public OptionalInt eos() {
        return OptionalInt.of(EOS);
    }

    @Override
    public boolean addsBos() {
        return true;
    }
}
