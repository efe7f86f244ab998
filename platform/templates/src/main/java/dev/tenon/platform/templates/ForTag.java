package dev.tenon.platform.templates;

import com.hubspot.jinjava.tree.Node;
import com.hubspot.jinjava.tree.TagNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// `for`, with a filter, `else`, `loop`, unpacking, `recursive`, and a scope of its own for each item.
final class ForTag extends JinjaTag {
    private static final long serialVersionUID = 1L;

    /// Makes the tag.
    ForTag() {
        super("for", "endfor");
    }

    private record Head(List<String> names, Eval items, Eval filter, boolean recursive) {}

    @Override
    Object prepare(String text, TagNode node, TemplateCompiler compiler) {
        return ExpressionParser.parse(text, p -> {
            List<String> names = p.targets();
            p.need("in");
            Eval items = p.tuple(false);
            Eval filter = p.take("if") ? p.expression() : null;
            return new Head(names, items, filter, p.take("recursive"));
        });
    }

    @Override
    void render(TagNode node, Object part, Frame frame) {
        Head head = (Head) part;
        loop(node, head, frame, head.items.eval(frame), frame.scope(), 0);
    }

    private void loop(TagNode node, Head head, Frame frame, Object value, Frame.Scope scope, int depth) {
        List<Object> items = PyOps.iterate(frame, value);
        if (head.filter != null) {
            List<Object> all = items;
            items = new ArrayList<>();
            for (Object item : all) {
                List<Object> kept = items;
                frame.inScope(scope, new HashMap<>(), () -> {
                    assign(frame, head.names, item);
                    if (PyOps.truth(head.filter.eval(frame))) {
                        kept.add(item);
                    }
                });
            }
        }
        List<Node> body = new ArrayList<>();
        List<Node> otherwise = new ArrayList<>();
        boolean inElse = false;
        for (Node child : node.getChildren()) {
            if (JinjaTags.is(child, "else")) {
                inElse = true;
            } else {
                (inElse ? otherwise : body).add(child);
            }
        }
        if (items.isEmpty()) {
            frame.inScope(scope, new HashMap<>(), () -> frame.render(otherwise));
            return;
        }
        Callable recurse = head.recursive
                ? (f, a) -> f.capture(() -> loop(node, head, f, a.need(0, "iterable"), scope, depth + 1))
                : null;
        LoopState state = new LoopState(items, depth, recurse);
        for (int i = 0; i < items.size(); i++) {
            Object item = items.get(i);
            state.index = i;
            Map<String, Object> names = new HashMap<>();
            names.put("loop", state);
            try {
                frame.inScope(scope, names, () -> {
                    assign(frame, head.names, item);
                    frame.render(body);
                });
            } catch (LoopExit exit) {
                if (exit == LoopExit.BREAK) {
                    return;
                }
            }
        }
    }

    /// Sets one name to a value, or several to its items.
    ///
    /// @param frame the rendering
    /// @param names the names
    /// @param value the value
    static void assign(Frame frame, List<String> names, Object value) {
        if (names.size() == 1) {
            frame.set(names.getFirst(), value);
            return;
        }
        List<Object> items = PyOps.iterate(frame, value);
        if (items.size() != names.size()) {
            throw new TemplateFailure(
                    "cannot unpack " + items.size() + " value(s) into " + names.size() + " names " + names);
        }
        for (int i = 0; i < items.size(); i++) {
            frame.set(names.get(i), items.get(i));
        }
    }
}
