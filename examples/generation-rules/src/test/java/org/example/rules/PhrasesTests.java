package org.example.rules;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.itest.testkit.TokenProposerContract;
import org.junit.jupiter.api.Test;

class PhrasesTests extends TokenProposerContract {
    @Override
    protected TokenProposerProvider provider() {
        return new Phrases();
    }

    @Override
    protected String argument() {
        return "Dear reader";
    }

    private int[] proposed(String text, int most) {
        int[] tokens = tokenizer().encode(text, false, false);
        return provider().create(argument(), tokenizer()).propose(new Tokens(tokens), most);
    }

    private record Tokens(int[] ids) implements TokenHistory {
        @Override
        public int length() {
            return ids.length;
        }

        @Override
        public int token(int index) {
            return ids[index];
        }
    }

    @Test
    void whatFollowsInTheTextIsProposed() {
        int[] rest = tokenizer().encode("ar reader", false, false);
        assertArrayEquals(rest, proposed("Oh De", 100));
        assertArrayEquals(new int[] {rest[0]}, proposed("De", 1));
        assertArrayEquals(new int[0], proposed("xx", 100));
        assertArrayEquals(new int[0], proposed("D", 100));
    }
}
