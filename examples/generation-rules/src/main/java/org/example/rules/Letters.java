package org.example.rules;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.BitSet;
import org.osgi.service.component.annotations.Component;

/// `letters=CHARACTERS`: the reply has no other ASCII characters than these, and ends where the model ends it.
@Component(service = ConstraintProvider.class)
@ServiceProvider(value = ConstraintProvider.class, resolution = Resolution.OPTIONAL)
public final class Letters implements ConstraintProvider {
    @Override
    public String id() {
        return "letters";
    }

    @Override
    public TokenConstraint create(String argument, Tokenizer tokenizer) {
        if (argument.isEmpty() || !argument.chars().allMatch(c -> c < 128)) {
            throw new IllegalArgumentException("'" + argument + "' is no list of ASCII characters, such as abc");
        }
        BitSet allowed = new BitSet();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            byte[] bytes = tokenizer.bytes(id);
            boolean all = bytes.length > 0;
            for (byte each : bytes) {
                all &= each >= 0 && argument.indexOf(each) >= 0;
            }
            allowed.set(id, all || tokenizer.isEndOfGeneration(id));
        }
        return new OneSet(allowed);
    }

    /// The same tokens at each place; it has no state.
    private record OneSet(BitSet tokens) implements TokenConstraint {
        @Override
        public void mask(long[] target) {
            long[] words = tokens.toLongArray(); // without zeros at the end
            System.arraycopy(words, 0, target, 0, words.length);
            Arrays.fill(target, words.length, target.length, 0);
        }

        @Override
        public void accept(int token) {
            if (token < 0 || !tokens.get(token)) {
                throw new IllegalArgumentException("token " + token + " is not among them");
            }
        }

        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public boolean quick(boolean wanted) {
            return true;
        }

        @Override
        public TokenConstraint copy() {
            return this;
        }
    }
}
