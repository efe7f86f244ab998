package org.example.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.itest.testkit.ConstraintContract;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

class LettersTests extends ConstraintContract {
    @Override
    protected ConstraintProvider provider() {
        return new Letters();
    }

    @Override
    protected String argument() {
        return "ab";
    }

    @Test
    void onlyTheLettersAndTheEndAreAllowed() {
        long[] words = new long[5];
        provider().create("ab", tokenizer()).mask(words);
        BitSet expected = new BitSet();
        expected.set(tokenizer().eos().getAsInt());
        for (int id : tokenizer().encode("ab", false, false)) {
            expected.set(id);
        }
        assertEquals(expected, BitSet.valueOf(words));
    }

    @Test
    void otherCharactersAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> provider().create("é", tokenizer()));
    }
}
