package dev.tenon.platform.grammar.mask;

import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.automaton.State;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/// How far any plain text of a JSON string, whatever its characters, may continue a text.
///
/// @param characters every plain text of at most so many characters may follow;
///     [PlainTokens#LONGEST] + 1 if there is no limit
/// @param exact whether none of more characters may
record PlainReach(int characters, boolean exact) {
    private static final PlainReach NONE = new PlainReach(0, false);
    private static final PlainReach UNLIMITED = new PlainReach(PlainTokens.LONGEST + 1, true);
    private static final int MOST_STATES = 64;
    private static final int MOST_KEPT = 1024;

    /// A byte's range of values, and how many continuation bytes follow, of which the first one has
    /// a range, too.
    private record Lead(int from, int to, int second, int secondTo, int more) {}

    private static final Lead[] LEADS = {
        new Lead(0x20, 0x21, 0, 0, 0), new Lead(0x23, 0x5B, 0, 0, 0), new Lead(0x5D, 0x7F, 0, 0, 0),
        new Lead(0xC2, 0xDF, 0x80, 0xBF, 1), new Lead(0xE0, 0xE0, 0xA0, 0xBF, 2), new Lead(0xE1, 0xEC, 0x80, 0xBF, 2),
        new Lead(0xED, 0xED, 0x80, 0x9F, 2), new Lead(0xEE, 0xEF, 0x80, 0xBF, 2), new Lead(0xF0, 0xF0, 0x90, 0xBF, 3),
        new Lead(0xF1, 0xF3, 0x80, 0xBF, 3), new Lead(0xF4, 0xF4, 0x80, 0x8F, 3),
    };

    /// One more character.
    ///
    /// @param every whether every one may follow
    /// @param to the states after those that may
    private record Step(boolean every, Set<State> to) {}

    /// Finds reaches in one automaton.
    static final class Finder {
        private final Automaton automaton;
        /// The classes of each lead's first byte, of its second one and of those after that.
        private final int[][] first = new int[LEADS.length][];

        private final int[][] second = new int[LEADS.length][];
        private final int[] later;
        private final Map<State, Step> steps = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<State, Step> eldest) {
                return size() > MOST_KEPT;
            }
        };

        Finder(Automaton automaton) {
            this.automaton = automaton;
            for (int i = 0; i < LEADS.length; i++) {
                first[i] = classes(LEADS[i].from(), LEADS[i].to());
                second[i] = classes(LEADS[i].second(), LEADS[i].secondTo());
            }
            later = classes(0x80, 0xBF);
        }

        private int[] classes(int from, int to) {
            return IntStream.rangeClosed(from, to)
                    .map(automaton::classOf)
                    .distinct()
                    .toArray();
        }

        /// {@return the reach of a state}
        PlainReach of(State state) {
            Set<State> seen = new HashSet<>(Set.of(state));
            Set<State> level = Set.of(state);
            for (int characters = 0; characters <= PlainTokens.LONGEST; characters++) {
                Step step = step(level);
                Set<State> next = step.to();
                if (!step.every()) {
                    return characters == 0 ? NONE : new PlainReach(characters, next.isEmpty());
                }
                if (!seen.addAll(next)) {
                    return UNLIMITED;
                }
                if (seen.size() > MOST_STATES) {
                    return characters == 0 ? NONE : new PlainReach(characters, false);
                }
                level = next;
            }
            return new PlainReach(PlainTokens.LONGEST, false);
        }

        /// {@return what comes after one more character; that of one state, which the masks of a string's next
        /// characters need again, is kept}
        private Step step(Set<State> from) {
            State only = from.size() == 1 ? from.iterator().next() : null;
            Step known = only == null ? null : steps.get(only);
            if (known != null) {
                return known;
            }
            Set<State> to = new HashSet<>();
            Step made = new Step(next(from, to), Set.copyOf(to));
            if (only != null) {
                steps.put(only, made);
            }
            return made;
        }

        /// Finds the states after one more character.
        ///
        /// @return whether every character may follow in every state
        private boolean next(Set<State> from, Set<State> to) {
            boolean every = true;
            for (int i = 0; i < LEADS.length; i++) {
                int more = LEADS[i].more();
                Set<State> reached = more == 0 ? to : new HashSet<>();
                every &= step(from, first[i], reached);
                for (int j = 1; j <= more; j++) {
                    Set<State> into = j == more ? to : new HashSet<>();
                    every &= step(reached, j == 1 ? second[i] : later, into);
                    reached = into;
                }
            }
            return every;
        }

        private boolean step(Set<State> from, int[] classes, Set<State> to) {
            boolean every = true;
            for (State each : from) {
                for (int c : classes) {
                    State next = automaton.next(each, c);
                    every &= next != null;
                    if (next != null) {
                        to.add(next);
                    }
                }
            }
            return every;
        }
    }
}
