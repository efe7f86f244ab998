package org.example.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.itest.testkit.LogitsProcessorContract;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class NoRepeatTests extends LogitsProcessorContract {
    @Override
    protected LogitsProcessorProvider provider() {
        return new NoRepeat();
    }

    @Override
    protected String argument() {
        return "2";
    }

    private Set<Integer> banned(String argument, int... tokens) {
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
        provider().create(argument, tokenizer()).process(history, logits);
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
}
