package dev.tenon.platform.grammar.mask;

import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.automaton.State;
import dev.tenon.platform.grammar.expr.Slice;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Finds states that any plain text may follow, as long as it may be, though it leads to several
/// states: such as in a key that is none of those that the schema names.
final class AnyPlain {
    private static final int MOST_STATES = 64;
    private static final int MOST_KEPT = 1024;

    private final Automaton automaton;
    private final int[][][] groups;
    private final Map<State, Boolean> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<State, Boolean> eldest) {
            return size() > MOST_KEPT;
        }
    };

    AnyPlain(Automaton automaton) {
        this.automaton = automaton;
        this.groups = Slice.PLAIN.classes(automaton::classOf);
    }

    /// {@return whether any plain text may follow}
    boolean mayFollow(State state) {
        Boolean found = known.get(state);
        if (found == null) {
            Set<State> reached = new HashSet<>(Set.of(state));
            found = explore(reached);
            if (found) {
                reached.forEach(each -> known.put(each, true));
            } else {
                known.put(state, false);
            }
        }
        return found;
    }

    private boolean explore(Set<State> reached) {
        Deque<State> open = new ArrayDeque<>(reached);
        while (!open.isEmpty() && reached.size() <= MOST_STATES) {
            State from = open.removeLast();
            for (int[][] group : groups) {
                Set<State> level = Set.of(from);
                for (int[] classes : group) {
                    level = after(level, classes);
                    if (level.isEmpty()) {
                        return false;
                    }
                }
                for (State each : level) {
                    if (reached.add(each)) {
                        open.add(each);
                    }
                }
            }
        }
        return open.isEmpty();
    }

    /// {@return the states after a byte of each class; none if one of them may not follow}
    private Set<State> after(Set<State> level, int[] classes) {
        Set<State> after = new HashSet<>();
        for (State each : level) {
            for (int c : classes) {
                State next = automaton.next(each, c);
                if (next == null) {
                    return Set.of();
                }
                after.add(next);
            }
        }
        return after;
    }
}
