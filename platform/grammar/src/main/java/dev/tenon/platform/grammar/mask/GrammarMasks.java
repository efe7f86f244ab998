package dev.tenon.platform.grammar.mask;

import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.automaton.State;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Slice;
import dev.tenon.platform.grammar.expr.Work;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// The masks of one grammar for one vocabulary, kept while they are used. Safe for any thread.
public final class GrammarMasks {
    private static final int MOST_KEPT = 128;
    /// Nodes of a tree that are visited in the time of a unit of work; a power of two.
    private static final int NODES_PER_UNIT = 4;

    private final Automaton automaton;
    private final AnyPlain anyPlain;
    private final TokenVocabulary vocabulary;
    /// Guards the automaton, which other vocabularies may share, and the masks.
    private final ReentrantLock lock;

    private final Map<Key, long[]> kept = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, long[]> eldest) {
            return size() > MOST_KEPT;
        }
    };
    private final State[] chain = new State[TokenSlice.LONGEST + 1];
    private State[] path = new State[64];
    private long visited;

    /// What a mask is of.
    ///
    /// @param state where a text goes on
    /// @param slice of what is after the slice's characters only; null for whole tokens
    private record Key(State state, Slice slice) {}

    /// Prepares masks.
    ///
    /// @param automaton the grammar
    /// @param lock held while the automaton is used
    /// @param vocabulary the model's tokens
    public GrammarMasks(Automaton automaton, ReentrantLock lock, TokenVocabulary vocabulary) {
        this.automaton = automaton;
        this.anyPlain = new AnyPlain(automaton);
        this.lock = lock;
        this.vocabulary = vocabulary;
    }

    /// {@return the model's tokens}
    public TokenVocabulary vocabulary() {
        return vocabulary;
    }

    /// {@return a constraint at the start of a text}
    public TokenConstraint constraint() {
        return new GrammarConstraint(this, automaton.start(), false, new TextWork(automaton.limits()));
    }

    /// {@return how many nodes of the tokens' trees were visited}
    public long visited() {
        return visited;
    }

    /// Does something with the automaton within the bounds of a text's work.
    ///
    /// @param <T> what comes of it
    /// @param text whose work it is
    /// @param call what is done
    <T> T work(TextWork text, Supplier<T> call) {
        if (!text.quick()) {
            return LongWork.call(() -> {
                lock.lock();
                return locked(text, call);
            });
        }
        if (!lock.tryLock()) {
            throw new TokenConstraint.LateException(); // another text of the grammar takes its time
        }
        return locked(text, call);
    }

    private <T> T locked(TextWork text, Supplier<T> call) {
        Work work = automaton.work();
        try {
            text.begin(work);
            automaton.begin();
            return call.get();
        } finally {
            text.end(work);
            lock.unlock();
        }
    }

    /// {@return the mask of a state; not to be changed}
    long[] mask(State state) {
        Key key = new Key(state, null);
        long[] mask = kept.get(key);
        if (mask == null) {
            mask = make(state);
            kept.put(key, mask);
        }
        return mask;
    }

    /// {@return the state after bytes, or null if they cannot follow}
    State after(State state, byte[] bytes) {
        State at = state;
        for (int i = 0; i < bytes.length && at != null; i++) {
            at = automaton.next(at, automaton.classOf(bytes[i] & 255));
        }
        return at;
    }

    /// {@return the bytes that follow in any case}
    ///
    /// @param most most bytes
    byte[] forced(State state, int most) {
        byte[] bytes = new byte[most];
        int length = 0;
        State at = state;
        while (length < most && !at.isAccepting()) {
            int only = onlyByte(at);
            if (only < 0) {
                break;
            }
            bytes[length++] = (byte) only;
            at = automaton.next(at, automaton.classOf(only));
        }
        return Arrays.copyOf(bytes, length);
    }

    /// {@return the only byte that may follow; -1 if there are several, or none}
    private int onlyByte(State state) {
        automaton.work().add(256 / NODES_PER_UNIT);
        int only = -1;
        for (int value = 0; value < 256; value++) {
            if (automaton.next(state, automaton.classOf(value)) != null) {
                if (only >= 0) {
                    return -1;
                }
                only = value;
            }
        }
        return only;
    }

    private long[] make(State state) {
        long[] mask = new long[vocabulary.words()];
        boolean sliced = false;
        for (int i = 0; i < vocabulary.slices.size() && !sliced; i++) {
            sliced = addBySlice(state, vocabulary.slices.get(i), mask);
        }
        if (!sliced) {
            boolean plain = anyPlain.mayFollow(state);
            if (plain) {
                System.arraycopy(vocabulary.plain().whole, 0, mask, 0, mask.length);
            }
            walk(state, plain ? vocabulary.notPlain : vocabulary.all, mask);
        }
        if (state.isAccepting()) {
            for (int id : vocabulary.ends()) {
                TokenVocabulary.set(mask, id);
            }
        }
        requireAny(state, mask);
        return mask;
    }

    /// Adds the tokens by what may be after the slice's characters that they begin with, where those lead to one state
    /// each.
    ///
    /// @return whether they do, and there may be any
    private boolean addBySlice(State state, TokenSlice tokens, long[] mask) {
        int count = 0;
        for (State at = state; at != null && count < chain.length; ) {
            chain[count++] = at;
            at = count < chain.length ? automaton.next(at, tokens.slice) : null;
            if (at == Automaton.DEPENDS) {
                return false;
            }
        }
        if (count == 1) {
            return false;
        }
        for (int from = 0; from < count; ) {
            State relaxed = automaton.relaxed(chain[from], TokenSlice.LONGEST);
            int to = from;
            while (to + 1 < count && automaton.relaxed(chain[to + 1], TokenSlice.LONGEST) == relaxed) {
                to++;
            }
            if (from == to) {
                tokens.add(tokens.whole, from, to, mask);
                walk(chain[from], tokens.restsAfter[from], mask);
            } else {
                Key key = new Key(relaxed, tokens.slice);
                tokens.add(kept.computeIfAbsent(key, each -> rests(each.state(), tokens)), from, to, mask);
            }
            from = to + 1;
        }
        walk(state, tokens.longer, mask);
        return true;
    }

    private long[] rests(State state, TokenSlice tokens) {
        long[] mask = tokens.whole.clone();
        walk(state, tokens.rests, mask);
        return mask;
    }

    private void walk(State state, TokenTrie trie, long[] mask) {
        if (path.length <= trie.longest) {
            path = new State[trie.longest + 1];
        }
        path[0] = state;
        Work work = automaton.work();
        for (int node = 0; node < trie.label.length; ) {
            if ((++visited & NODES_PER_UNIT - 1) == 0) {
                work.add(1);
            }
            int depth = trie.depth[node];
            State next = automaton.next(path[depth - 1], automaton.classOf(trie.label[node] & 255));
            if (next == null) {
                node = trie.after[node];
                continue;
            }
            path[depth] = next;
            if (trie.token[node] >= 0) {
                TokenVocabulary.set(mask, trie.token[node]);
            }
            node++;
        }
    }

    private void requireAny(State state, long[] mask) {
        if (state.isFinal()) {
            return;
        }
        for (long word : mask) {
            if (word != 0) {
                return;
            }
        }
        throw GrammarException.unsupported("The vocabulary has no token for what the grammar requires next. Use a model"
                + " whose vocabulary has a token for each byte.");
    }
}
