package dev.tenon.platform.grammar.automaton;

import dev.tenon.platform.grammar.expr.Expr;
import java.util.Arrays;

/// How far a text has come: what may follow, for each node that it may be in. Immutable but for
/// what is learnt about it; it says all of the text that matters for its continuation, so that
/// keeping it is enough to return to it.
public final class State {
    final Node[] nodes;
    final Expr[] exprs;
    private final boolean accepting;
    private final int hash;
    /// The expressions of the rules that may begin here, too; null until they are needed.
    Node[] openNodes;
    Expr[] openExprs;
    State[] next;
    State[] afterSlice;
    State relaxed;

    State(Node[] nodes, Expr[] exprs, boolean accepting) {
        this.nodes = nodes;
        this.exprs = exprs;
        this.accepting = accepting;
        int h = Boolean.hashCode(accepting);
        for (int i = 0; i < nodes.length; i++) {
            h = 31 * (31 * h + exprs[i].id()) + nodes[i].id;
        }
        this.hash = h;
    }

    /// {@return whether the text may end here}
    public boolean isAccepting() {
        return accepting;
    }

    /// {@return whether nothing may follow}
    public boolean isFinal() {
        return nodes.length == 0;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof State s
                        && hash == s.hash
                        && accepting == s.accepting
                        && Arrays.equals(nodes, s.nodes)
                        && Arrays.equals(exprs, s.exprs);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
