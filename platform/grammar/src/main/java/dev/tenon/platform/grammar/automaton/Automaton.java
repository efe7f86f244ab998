package dev.tenon.platform.grammar.automaton;

import dev.tenon.platform.grammar.expr.Derivatives;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.expr.Rule;
import dev.tenon.platform.grammar.expr.Slice;
import dev.tenon.platform.grammar.expr.Work;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/// Reads texts byte by byte: a pushdown automaton whose states and transitions are made when they
/// are first needed.
///
/// A state has an expression for each [Node], which says where the text goes on after it. A byte
/// replaces the expressions by their derivatives; where the empty text belongs to one, the text may
/// also go on after the node's rule. Rules that are called at one place share one node, so that the
/// number of a state's nodes grows with the text at most linearly. Not safe for several threads.
public final class Automaton {
    /// In place of a state: it depends on the character.
    public static final State DEPENDS = new State(new Node[0], new Expr[0], false);

    private static final Comparator<Node> BY_ID = Comparator.comparingInt(node -> node.id);

    private final Derivatives derivatives;
    private final GrammarLimits limits;
    private final int mostItems;
    /// Of each class of bytes, whether all are letters.
    private final boolean[] isLetters;
    private final Map<Node, Node> nodes = new HashMap<>();
    private final Map<State, State> states = new HashMap<>();
    /// The state that is being made, and the nodes whose rules are over in it.
    private final Items items = new Items();

    private final Deque<Node> over = new ArrayDeque<>();
    private final State dead = new State(new Node[0], new Expr[0], false);
    private final State start;
    private int nextNode;
    /// Items of the states that were made since the mask began.
    private long madeItems;
    private long steps;

    /// Makes an automaton; closes the pool.
    ///
    /// @param pool the grammar's expressions
    /// @param root what whole texts belong to
    /// @throws GrammarException (`GRAMMAR-002`) if a rule begins with itself or no text belongs to
    ///     the grammar
    public Automaton(ExprPool pool, Expr root) {
        this.derivatives = new Derivatives(pool, root);
        this.limits = pool.limits();
        this.mostItems = limits.statesInAMask();
        this.isLetters = new boolean[derivatives.classCount()];
        Arrays.fill(isLetters, true);
        for (int value = 0; value < 256; value++) {
            isLetters[classOf(value)] &= Slice.LETTERS.lengthAt(new byte[] {(byte) value}, 0) > 0;
        }
        if (!derivatives.isAlive(root)) {
            throw GrammarException.unsupported(
                    "No text satisfies the grammar: its parts contradict each other. Loosen one of them.");
        }
        Node end = node(true, Map.of());
        if (!root.isEmpty()) {
            items.add(end, root, derivatives);
        }
        start = state(root.isNullable());
    }

    /// {@return what it may cost}
    public GrammarLimits limits() {
        return limits;
    }

    /// {@return what counts the work, of which each use of the automaton begins with its own bound}
    public Work work() {
        return derivatives.work();
    }

    /// {@return the state before the first byte}
    public State start() {
        return start;
    }

    /// {@return number of classes of bytes that the grammar tells apart}
    public int classCount() {
        return derivatives.classCount();
    }

    /// {@return the class of a byte}
    ///
    /// @param value 0 to 255
    public int classOf(int value) {
        return derivatives.classOf(value);
    }

    /// Begins a mask or a token: bounds what it may add, and forgets what is no longer in use if it
    /// has become much.
    public void begin() {
        madeItems = 0;
        if (derivatives.beginMask() || states.size() > mostItems) {
            states.clear();
            nodes.clear();
            start.next = null;
            start.afterSlice = null;
            start.relaxed = null;
            start.openNodes = null;
            start.openExprs = null;
        }
    }

    /// {@return the state after a byte, or null if no text goes on with it}
    ///
    /// @param state a state of this automaton
    /// @param byteClass the byte's class
    public State next(State state, int byteClass) {
        if (state.next == null) {
            state.next = new State[derivatives.classCount()];
        }
        State next = state.next[byteClass];
        if (next == null) {
            next = isLetters[byteClass] ? afterSlice(state, Slice.LETTERS) : DEPENDS;
            if (next == DEPENDS) {
                next = step(state, e -> derivatives.next(e, byteClass));
            }
            state.next[byteClass] = next;
        }
        return next == dead ? null : next;
    }

    /// {@return the state after a character of a slice, whichever it is; null if no text goes on with any of them;
    ///     [#DEPENDS] if they do not all lead to one state}
    ///
    /// @param state a state of this automaton
    /// @param slice the characters
    public State next(State state, Slice slice) {
        State next = afterSlice(state, slice);
        return next == dead ? null : next;
    }

    private State afterSlice(State state, Slice slice) {
        if (state.afterSlice == null) {
            state.afterSlice = new State[Slice.values().length];
        }
        State next = state.afterSlice[slice.ordinal()];
        if (next == null) {
            next = step(state, e -> derivatives.next(e, slice));
            state.afterSlice[slice.ordinal()] = next;
        }
        return next;
    }

    /// {@return a state with the same texts up to a length, which many states share}
    ///
    /// @param state a state of this automaton
    /// @param bytes the length; always the same one
    public State relaxed(State state, int bytes) {
        if (state.relaxed == null) {
            items.clear();
            for (int i = 0; i < state.nodes.length; i++) {
                items.add(state.nodes[i], derivatives.relaxed(state.exprs[i], bytes), derivatives);
            }
            state.relaxed = state(state.isAccepting());
        }
        return state.relaxed;
    }

    /// {@return how many transitions were made; those that are looked up later do not count}
    public long steps() {
        return steps;
    }

    /// {@return whether a whole text belongs to the grammar}
    ///
    /// @param text any text
    public boolean matches(String text) {
        State state = start;
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            begin();
            state = next(state, classOf(b & 255));
            if (state == null) {
                return false;
            }
        }
        return state.isAccepting();
    }

    /// {@return the state in which something of each expression remains; [#DEPENDS] if that is null for one}
    private State step(State state, UnaryOperator<Expr> remains) {
        steps++;
        open(state);
        derivatives.work().add(2 + 2L * state.openNodes.length);
        items.clear();
        over.clear(); // a step that failed may have left some
        for (int i = 0; i < state.openNodes.length; i++) {
            Expr rest = remains.apply(state.openExprs[i]);
            if (rest == null) {
                return DEPENDS;
            }
            if (!rest.isNothing() && derivatives.isAlive(rest)) {
                add(state.openNodes[i], rest);
            }
        }
        boolean accepting = false;
        if (!over.isEmpty()) {
            Set<Node> seen = new HashSet<>();
            while (!over.isEmpty()) {
                Node node = over.removeLast();
                if (seen.add(node)) {
                    derivatives.work().add(1 + node.rests.length);
                    accepting |= node.end;
                    for (int i = 0; i < node.rests.length; i++) {
                        add(node.parents[i], node.rests[i]);
                    }
                }
            }
        }
        return items.size() == 0 && !accepting ? dead : state(accepting);
    }

    private void add(Node node, Expr rest) {
        if (!rest.isEmpty()) {
            items.add(node, rest, derivatives);
        }
        if (rest.isNullable()) {
            over.add(node);
        }
        if (items.size() > mostItems) {
            throw tooAmbiguous();
        }
    }

    private GrammarException tooAmbiguous() {
        return GrammarException.limit("The text can be read in more than " + mostItems
                + " ways by the grammar. Make its rules less ambiguous.");
    }

    private State state(boolean accepting) {
        derivatives.work().add(2 + items.size());
        State made = new State(items.nodes(), items.exprs(), accepting);
        State known = states.putIfAbsent(made, made);
        madeItems += known == null ? 1 + items.size() : 0;
        if (madeItems > 20L * mostItems) {
            throw tooAmbiguous();
        }
        return known == null ? made : known;
    }

    /// Finds the rules that may begin in a state.
    private void open(State state) {
        if (state.openNodes != null) {
            return;
        }
        TreeMap<Rule, Map<Node, Expr>> called = new TreeMap<>(Comparator.comparingInt(Rule::rank));
        for (int i = 0; i < state.nodes.length; i++) {
            call(state.nodes[i], state.exprs[i], called);
        }
        if (called.isEmpty()) {
            state.openNodes = state.nodes;
            state.openExprs = state.exprs;
            return;
        }
        List<Node> openNodes = new ArrayList<>(Arrays.asList(state.nodes));
        List<Expr> openExprs = new ArrayList<>(Arrays.asList(state.exprs));
        while (!called.isEmpty()) { // callers first: all calls of a rule are known when it is taken
            Map.Entry<Rule, Map<Node, Expr>> first = called.pollFirstEntry();
            Node node = node(false, first.getValue());
            Expr body = first.getKey().body();
            openNodes.add(node);
            openExprs.add(body);
            call(node, body, called);
        }
        state.openNodes = openNodes.toArray(Node[]::new);
        state.openExprs = openExprs.toArray(Expr[]::new);
    }

    private void call(Node node, Expr expr, Map<Rule, Map<Node, Expr>> called) {
        for (Expr.Head head : derivatives.heads(expr)) {
            derivatives.work().add(2);
            called.computeIfAbsent(head.rule(), rule -> new TreeMap<>(BY_ID)).merge(node, head.rest(), derivatives::or);
        }
    }

    /// {@return the node that goes on after these expressions. Where nothing is left to come, it
    ///     goes on as the node that would follow, so that a rule that ends with itself needs no
    ///     more and more nodes}
    private Node node(boolean isEnd, Map<Node, Expr> rests) {
        boolean end = isEnd;
        Map<Node, Expr> edges = new TreeMap<>(BY_ID);
        for (Map.Entry<Node, Expr> each : rests.entrySet()) {
            Node parent = each.getKey();
            derivatives.work().add(2 + parent.rests.length);
            if (each.getValue().isEmpty()) {
                end |= parent.end;
                for (int i = 0; i < parent.rests.length; i++) {
                    edges.merge(parent.parents[i], parent.rests[i], derivatives::or);
                }
            } else {
                edges.merge(parent, each.getValue(), derivatives::or);
            }
        }
        Node made = new Node(
                nextNode,
                end,
                edges.values().toArray(Expr[]::new),
                edges.keySet().toArray(Node[]::new));
        Node known = nodes.putIfAbsent(made, made);
        if (known != null) {
            return known;
        }
        nextNode++;
        return made;
    }
}
