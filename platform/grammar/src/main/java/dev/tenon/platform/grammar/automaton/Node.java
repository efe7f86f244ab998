package dev.tenon.platform.grammar.automaton;

import dev.tenon.platform.grammar.expr.Expr;
import java.util.Arrays;

/// Where a text goes on when a rule's text is over: after each of these expressions, with its own
/// node. Nodes form a graph without circles, and equal ones are one object.
final class Node {
    /// Order of creation: parents come first.
    final int id;
    /// Whether the whole text may be over.
    final boolean end;
    final Expr[] rests;
    final Node[] parents;
    private final int hash;

    Node(int id, boolean end, Expr[] rests, Node[] parents) {
        this.id = id;
        this.end = end;
        this.rests = rests;
        this.parents = parents;
        int h = Boolean.hashCode(end);
        for (int i = 0; i < rests.length; i++) {
            h = 31 * (31 * h + rests[i].id()) + parents[i].id;
        }
        this.hash = h;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof Node n
                        && hash == n.hash
                        && end == n.end
                        && Arrays.equals(rests, n.rests)
                        && Arrays.equals(parents, n.parents);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
