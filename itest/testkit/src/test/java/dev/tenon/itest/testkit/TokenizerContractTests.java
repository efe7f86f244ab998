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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    private static final class Bytes extends ByteTokenizer {
        private final List<Integer> shared = new ArrayList<>();
        private final Thread creator = Thread.currentThread();
        private final CountDownLatch others = new CountDownLatch(2);

        /// Waits until two threads have filled the list.
        private void meet() {
            others.countDown();
            try {
                assertTrue(others.await(1, TimeUnit.MINUTES), "no other thread came");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
            if (current == Fault.REFUSES_NUL && text.indexOf('\0') >= 0) {
                throw new IllegalArgumentException("a zero");
            }
            int[] ids = super.encode(
                    current == Fault.LOWERS_CASE ? text.toLowerCase(Locale.ROOT) : text,
                    addSpecial && current != Fault.FORGETS_BOS,
                    (parseSpecial || current == Fault.READS_CONTROL_TOKENS_ALWAYS)
                            && current != Fault.READS_CONTROL_TOKENS_NEVER);
            if (current != Fault.SHARES_A_LIST) {
                return ids;
            }
            shared.clear();
            for (int id : ids) {
                shared.add(id);
            }
            if (Thread.currentThread() != creator) {
                meet();
            }
            return shared.stream().mapToInt(Integer::intValue).toArray();
        }

        @Override
        public int[] encode(String text, boolean addSpecial, int[] borders) {
            return current == Fault.IGNORES_BORDERS
                    ? encode(text, addSpecial, true)
                    : super.encode(text, addSpecial, borders);
        }

        @Override
        public byte[] bytes(int id) {
            if (current == Fault.ANSWERS_ANY_ID && (id < 0 || id >= vocabularySize())
                    || current == Fault.LOSES_BYTES && id == 3 + 'f') {
                return new byte[0];
            }
            return super.bytes(id);
        }

        @Override
        public String piece(int id) {
            return current == Fault.ANSWERS_ANY_ID && (id < 0 || id >= vocabularySize()) ? "" : super.piece(id);
        }

        @Override
        public StreamDecoder decoder() {
            StreamDecoder right = super.decoder();
            return new StreamDecoder() {
                @Override
                public String next(int id) {
                    return current == Fault.CUTS_CHARACTERS
                            ? new String(bytes(id), StandardCharsets.UTF_8)
                            : right.next(id);
                }

                @Override
                public String finish() {
                    return current == Fault.DROPS_WHAT_IS_LEFT ? "" : right.finish();
                }
            };
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
