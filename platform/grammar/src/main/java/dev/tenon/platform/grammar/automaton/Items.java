package dev.tenon.platform.grammar.automaton;

import dev.tenon.platform.grammar.expr.Derivatives;
import dev.tenon.platform.grammar.expr.Expr;
import java.util.Arrays;

/// Expressions by their nodes, in the order of the nodes' ids; used again and again.
final class Items {
    private Node[] nodes = new Node[8];
    private Expr[] exprs = new Expr[8];
    private int size;

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    /// Adds an expression of a node, beside the one that it has.
    void add(Node node, Expr expr, Derivatives derivatives) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (nodes[middle].id < node.id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < size && nodes[low] == node) {
            exprs[low] = derivatives.or(exprs[low], expr);
            return;
        }
        if (size == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * size);
            exprs = Arrays.copyOf(exprs, 2 * size);
        }
        System.arraycopy(nodes, low, nodes, low + 1, size - low);
        System.arraycopy(exprs, low, exprs, low + 1, size - low);
        nodes[low] = node;
        exprs[low] = expr;
        size++;
    }

    Node[] nodes() {
        return Arrays.copyOf(nodes, size);
    }

    Expr[] exprs() {
        return Arrays.copyOf(exprs, size);
    }
}
