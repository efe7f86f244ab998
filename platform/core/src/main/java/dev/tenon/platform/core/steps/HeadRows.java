package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.List;

/// What a [Head] knows of a sequence: how many of its first tokens have rows in the head's cache, and the hidden
/// states that the rows after them need.
final class HeadRows {
    /// Of the positions from [#from] on.
    private final List<float[]> states = new ArrayList<>();

    private int from;
    private int done;

    /// {@return how many of the first tokens have rows in the head's cache}
    int done() {
        return done;
    }

    void done(int tokens) {
        done = tokens;
    }

    /// Notes the model's hidden state of a position, in the place of those of it and later ones.
    void put(int position, float[] state) {
        cutStates(position);
        if (from + states.size() != position) {
            states.clear();
            from = position;
        }
        states.add(state);
    }

    /// {@return the model's hidden state of a position; null if it is not known}
    float[] state(int position) {
        int index = position - from;
        return index >= 0 && index < states.size() ? states.get(index) : null;
    }

    /// Forgets the hidden states before a position.
    void forgetBefore(int position) {
        int count = Math.clamp(position - from, 0, states.size());
        states.subList(0, count).clear();
        from += count;
    }

    /// Forgets all but the first tokens.
    void cut(int tokens) {
        done = Math.min(done, tokens);
        cutStates(tokens);
    }

    private void cutStates(int tokens) {
        states.subList(Math.clamp(tokens - from, 0, states.size()), states.size())
                .clear();
    }
}
