package dev.tenon.platform.grammar.mask;

import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.automaton.State;
import java.util.HashSet;
import java.util.Set;

/// How far any plain text of a JSON string, whatever its characters, may continue a text.
///
/// @param characters every plain text of at most so many characters may follow;
///     [PlainTokens#LONGEST] + 1 if there is no limit
/// @param exact whether none of more characters may
record PlainReach(int characters, boolean exact) {
    private static final PlainReach NONE = new PlainReach(0, false);
    private static final PlainReach UNLIMITED = new PlainReach(PlainTokens.LONGEST + 1, true);
    private static final int MOST_STATES = 64;

    /// A byte's range of values, and how many continuation bytes follow, of which the first one has
    /// a range, too.
    private record Lead(int from, int to, int second, int secondTo, int more) {}

    private static final Lead[] LEADS = {
        new Lead(0x20, 0x21, 0, 0, 0), new Lead(0x23, 0x5B, 0, 0, 0), new Lead(0x5D, 0x7F, 0, 0, 0),
        new Lead(0xC2, 0xDF, 0x80, 0xBF, 1), new Lead(0xE0, 0xE0, 0xA0, 0xBF, 2), new Lead(0xE1, 0xEC, 0x80, 0xBF, 2),
        new Lead(0xED, 0xED, 0x80, 0x9F, 2), new Lead(0xEE, 0xEF, 0x80, 0xBF, 2), new Lead(0xF0, 0xF0, 0x90, 0xBF, 3),
        new Lead(0xF1, 0xF3, 0x80, 0xBF, 3), new Lead(0xF4, 0xF4, 0x80, 0x8F, 3),
    };

    /// {@return the reach of a state}
    static PlainReach of(Automaton automaton, State state) {
        Set<State> seen = new HashSet<>(Set.of(state));
        Set<State> level = Set.of(state);
        for (int characters = 0; characters <= PlainTokens.LONGEST; characters++) {
            Level next = next(automaton, level);
            if (next.died) {
                return characters == 0 ? NONE : new PlainReach(characters, next.states.isEmpty());
            }
            if (!seen.addAll(next.states)) {
                return UNLIMITED;
            }
            if (seen.size() > MOST_STATES) {
                return characters == 0 ? NONE : new PlainReach(characters, false);
            }
            level = next.states;
        }
        return new PlainReach(PlainTokens.LONGEST, false);
    }

    /// What one more character leads to.
    private static final class Level {
        final Set<State> states = new HashSet<>();
        boolean died;

        void step(Automaton automaton, Set<State> from, int low, int high, Set<State> to) {
            boolean[] done = new boolean[automaton.classCount()];
            for (int value = low; value <= high; value++) {
                int c = automaton.classOf(value);
                if (!done[c]) {
                    done[c] = true;
                    for (State each : from) {
                        State next = automaton.next(each, c);
                        died |= next == null;
                        if (next != null) {
                            to.add(next);
                        }
                    }
                }
            }
        }
    }

    private static Level next(Automaton automaton, Set<State> from) {
        Level level = new Level();
        for (Lead lead : LEADS) {
            Set<State> reached = new HashSet<>();
            level.step(automaton, from, lead.from(), lead.to(), lead.more() == 0 ? level.states : reached);
            for (int i = 1; i <= lead.more(); i++) {
                Set<State> into = i == lead.more() ? level.states : new HashSet<>();
                level.step(automaton, reached, i == 1 ? lead.second() : 0x80, i == 1 ? lead.secondTo() : 0xBF, into);
                reached = into;
            }
        }
        return level;
    }
}
