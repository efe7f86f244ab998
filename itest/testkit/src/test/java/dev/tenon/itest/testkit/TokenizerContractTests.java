package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken tokenizer fails the test of the contract that is there for it.
class TokenizerContractTests {
    private enum Fault {
        NONE(""),
        LOWERS_CASE("textsSurvive"),
        CUTS_CHARACTERS("streamsGiveTheTextInWholeCharacters"),
        DROPS_WHAT_IS_LEFT("aCharacterThatStaysCutIsReplacedAtTheEnd"),
        LOSES_BYTES("bytesOfTokensAreTheText"),
        READS_CONTROL_TOKENS_ALWAYS("controlTokensAreNotForgedByText"),
        IGNORES_BORDERS("controlTokensAreNotForgedByText"),
        READS_CONTROL_TOKENS_NEVER("controlTokensAreReadWhereThatIsWanted"),
        FORGETS_BOS("specialTokensAreAddedWhereThatIsWanted"),
        ANSWERS_ANY_ID("everyIdHasATextAndBytes"),
        REFUSES_NUL("anyTextHasTokens"),
        SHARES_A_LIST("severalThreadsMayUseIt"),
        TRUSTS_THE_FILE("aFileWithoutAVocabularyIsRefusedWithACode");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends TokenizerContract {
        @Override
        protected TokenizerProvider provider() {
            return new TokenizerProvider() {
                @Override
                public String model() {
                    return "bytes";
                }

                @Override
                public Tokenizer create(GgufMetadata metadata) {
                    if (current == Fault.TRUSTS_THE_FILE) {
                        metadata.strings("tokenizer.ggml.tokens").get();
                    }
                    return new Bytes();
                }
            };
        }

        @Override
        protected GgufMetadata metadata() {
            return byteVocabulary("bytes");
        }
    }

    /// The control tokens `<s>` (1) and `</s>` (2), and a token for each byte, from 3.
    private static final class Bytes implements Tokenizer {
        private static final List<String> CONTROLS = List.of("<unk>", "<s>", "</s>");

        private final List<Integer> shared = new ArrayList<>();

        @Override
        public int vocabularySize() {
            return 259;
        }

        @Override
        public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
            if (current == Fault.REFUSES_NUL && text.indexOf('\0') >= 0) {
                throw new IllegalArgumentException("a zero");
            }
            List<Integer> ids = current == Fault.SHARES_A_LIST ? shared : new ArrayList<>();
            ids.clear();
            if (addSpecial && current != Fault.FORGETS_BOS) {
                ids.add(1);
            }
            boolean parse = (parseSpecial || current == Fault.READS_CONTROL_TOKENS_ALWAYS)
                    && current != Fault.READS_CONTROL_TOKENS_NEVER;
            for (int at = 0; at < text.length(); ) {
                int from = at;
                int id = parse ? control(text, at) : -1;
                if (id >= 0) {
                    ids.add(id);
                    at += CONTROLS.get(id).length();
                } else {
                    at += Character.charCount(text.codePointAt(at));
                    String one = text.substring(from, at);
                    one = current == Fault.LOWERS_CASE ? one.toLowerCase(java.util.Locale.ROOT) : one;
                    for (byte each : one.getBytes(StandardCharsets.UTF_8)) {
                        ids.add(3 + (each & 0xff));
                    }
                }
            }
            return List.copyOf(ids).stream().mapToInt(Integer::intValue).toArray();
        }

        private static int control(String text, int at) {
            for (int id = 1; id < CONTROLS.size(); id++) {
                if (text.startsWith(CONTROLS.get(id), at)) {
                    return id;
                }
            }
            return -1;
        }

        @Override
        public int[] encode(String text, boolean addSpecial, int[] borders) {
            return current == Fault.IGNORES_BORDERS
                    ? encode(text, addSpecial, true)
                    : Tokenizer.super.encode(text, addSpecial, borders);
        }

        @Override
        public byte[] bytes(int id) {
            checked(id);
            boolean none = isControl(id) || id == 0 || current == Fault.LOSES_BYTES && id == 3 + 'f';
            return none ? new byte[0] : new byte[] {(byte) (id - 3)};
        }

        @Override
        public String piece(int id) {
            checked(id);
            return id >= 0 && id < 3 ? CONTROLS.get(id) : "byte " + id;
        }

        private static void checked(int id) {
            if ((id < 0 || id >= 259) && current != Fault.ANSWERS_ANY_ID) {
                throw new IllegalArgumentException("no token " + id);
            }
        }

        @Override
        public StreamDecoder decoder() {
            return new StreamDecoder() {
                private byte[] kept = {};

                @Override
                public String next(int id) {
                    byte[] more = isControl(id) || id == 0 ? new byte[0] : new byte[] {(byte) (id - 3)};
                    byte[] all = java.util.Arrays.copyOf(kept, kept.length + more.length);
                    System.arraycopy(more, 0, all, kept.length, more.length);
                    String text = new String(all, StandardCharsets.UTF_8);
                    boolean whole = !text.contains("\uFFFD") || all.length >= 4 || current == Fault.CUTS_CHARACTERS;
                    kept = whole ? new byte[0] : all;
                    return whole ? text : "";
                }

                @Override
                public String finish() {
                    return kept.length == 0 || current == Fault.DROPS_WHAT_IS_LEFT ? "" : "\uFFFD";
                }
            };
        }

        @Override
        public boolean isEndOfGeneration(int id) {
            return id == 2;
        }

        @Override
        public boolean isControl(int id) {
            return id == 1 || id == 2;
        }

        @Override
        public OptionalInt bos() {
            return OptionalInt.of(1);
        }

        @Override
        public OptionalInt eos() {
            return OptionalInt.of(2);
        }

        @Override
        public boolean addsBos() {
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 0);
        assertTrue(failures.containsKey(fault.found), () -> fault + ": " + failures);
    }

    @Test
    void aSoundTokenizerPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 11));
    }
}
