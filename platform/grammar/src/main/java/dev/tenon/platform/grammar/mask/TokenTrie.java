package dev.tenon.platform.grammar.mask;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// Tokens as a tree of their bytes, flat in arrays: nodes in the order of a walk that visits
/// parents first.
final class TokenTrie {
    /// The byte that leads to a node.
    final byte[] label;
    /// Depth of a node: 1 for first bytes.
    final short[] depth;
    /// The node after the last one below a node.
    final int[] after;
    /// The token that ends at a node; -1 if none does.
    final int[] token;
    /// Length of the longest token.
    final int longest;

    /// A token.
    ///
    /// @param id its id
    /// @param bytes its text; not empty
    record Entry(int id, byte[] bytes) {}

    /// Makes a tree.
    ///
    /// @param tokens the tokens; of those with equal texts each gets a node of its own
    TokenTrie(List<Entry> tokens) {
        Entry[] sorted = tokens.toArray(Entry[]::new);
        Arrays.sort(sorted, Comparator.comparing(Entry::bytes, Arrays::compareUnsigned));
        int size = 0;
        int most = 0;
        byte[] before = {};
        for (Entry each : sorted) {
            size += added(before, each.bytes());
            most = Math.max(most, each.bytes().length);
            before = each.bytes();
        }
        label = new byte[size];
        depth = new short[size];
        after = new int[size];
        token = new int[size];
        longest = most;
        fill(sorted);
    }

    /// {@return how many nodes a text adds after another one}
    private static int added(byte[] before, byte[] bytes) {
        return Math.max(1, bytes.length - shared(before, bytes));
    }

    private static int shared(byte[] a, byte[] b) {
        int mismatch = Arrays.mismatch(a, b);
        return mismatch < 0 ? b.length : mismatch;
    }

    private void fill(Entry[] sorted) {
        int[] path = new int[longest + 1];
        int open = 0;
        int node = 0;
        byte[] before = {};
        for (Entry each : sorted) {
            byte[] bytes = each.bytes();
            int from = Math.min(shared(before, bytes), bytes.length - 1);
            for (; open > from; open--) {
                after[path[open - 1]] = node;
            }
            for (int i = from; i < bytes.length; i++) {
                label[node] = bytes[i];
                depth[node] = (short) (i + 1);
                token[node] = -1;
                path[open++] = node++;
            }
            token[node - 1] = each.id();
            before = bytes;
        }
        for (; open > 0; open--) {
            after[path[open - 1]] = node;
        }
    }
}
