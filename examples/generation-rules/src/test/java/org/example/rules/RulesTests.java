package org.example.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RulesTests {
    /// Each token is the character of its id; 0 ends a text.
    private static final Tokenizer CHARACTERS = (Tokenizer) Proxy.newProxyInstance(
            Tokenizer.class.getClassLoader(),
            new Class<?>[] {Tokenizer.class},
            (self, method, args) -> switch (method.getName()) {
                case "vocabularySize" -> 200;
                case "bytes" -> (int) args[0] == 0 ? new byte[0] : new byte[] {(byte) (int) args[0]};
                case "isEndOfGeneration" -> (int) args[0] == 0;
                default -> throw new UnsupportedOperationException(method.getName());
            });

    private static Set<Integer> banned(String argument, int... tokens) {
        float[] logits = new float[10];
        LogitsProcessor.TokenHistory history = new LogitsProcessor.TokenHistory() {
            @Override
            public int length() {
                return tokens.length;
            }

            @Override
            public int token(int index) {
                return tokens[index];
            }
        };
        new NoRepeat().create(argument, CHARACTERS).process(history, logits);
        Set<Integer> banned = new TreeSet<>();
        for (int id = 0; id < logits.length; id++) {
            if (logits[id] == Float.NEGATIVE_INFINITY) {
                banned.add(id);
            }
        }
        return banned;
    }

    @Test
    void whatWouldRepeatIsBanned() {
        assertEquals(Set.of(3, 5), banned("3", 1, 2, 3, 1, 2, 5, 1, 2));
        assertEquals(Set.of(1, 2, 3), banned("1", 1, 2, 3));
        assertEquals(Set.of(), banned("2", 1, 2, 3));
        assertEquals(Set.of(), banned("3"));
    }

    @Test
    void onlyTheLettersAndTheEndAreAllowed() {
        TokenConstraint constraint = new Letters().create("ab", CHARACTERS);
        long[] words = {-1, -1, -1, -1};
        constraint.mask(words);
        assertEquals(1, words[0]);
        assertEquals(1L << 'a' - 64 | 1L << 'b' - 64, words[1]);
        assertEquals(0, words[2] | words[3]);
        constraint.accept('b');
        assertThrows(IllegalArgumentException.class, () -> constraint.accept('c'));
    }

    @Test
    void argumentsThatAreNotUnderstoodAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new NoRepeat().create("", CHARACTERS));
        assertThrows(IllegalArgumentException.class, () -> new Letters().create("é", CHARACTERS));
    }
}
