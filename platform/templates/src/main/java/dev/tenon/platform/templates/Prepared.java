package dev.tenon.platform.templates;

import com.hubspot.jinjava.tree.Node;
import java.util.List;

/// A compiled template: the engine's tree and what its numbers stand for. Immutable.
///
/// @param nodes top-level nodes
/// @param parts for each number the parsed expression or the tag's own parsed form
/// @param pieces for each number its text in the template
record Prepared(List<Node> nodes, List<Object> parts, List<String> pieces) {
    /// {@return the part that a node names}
    ///
    /// @param number the node's text
    Object part(String number) {
        return parts.get(Integer.parseInt(number.strip()));
    }
}
