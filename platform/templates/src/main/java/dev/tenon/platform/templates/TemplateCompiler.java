package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.TemplateError;
import com.hubspot.jinjava.tree.ExpressionNode;
import com.hubspot.jinjava.tree.Node;
import com.hubspot.jinjava.tree.TagNode;
import com.hubspot.jinjava.tree.TreeParser;
import com.hubspot.jinjava.tree.parse.ExpressionToken;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Turns a template's text into a [Prepared] one: rewrites it, lets the engine build the tree, parses
/// every expression.
final class TemplateCompiler {
    private final SourceRewriter.Rewritten rewritten;
    private final List<Object> parts;

    private TemplateCompiler(SourceRewriter.Rewritten rewritten) {
        this.rewritten = rewritten;
        parts = new ArrayList<>(Collections.nCopies(rewritten.pieces().size(), null));
    }

    /// Compiles a template.
    ///
    /// @param source its text
    /// @return the template
    /// @throws TemplateFailure if it does not parse
    static Prepared compile(String source) {
        TemplateCompiler compiler = new TemplateCompiler(SourceRewriter.rewrite(source));
        FrameInterpreter interpreter = new FrameInterpreter(JinjaMends.engine());
        Node root = new TreeParser(interpreter, compiler.rewritten.source()).buildTree();
        List<TemplateError> errors = interpreter.getErrorsCopy();
        if (!errors.isEmpty()) {
            throw new TemplateFailure(compiler.readable(errors.getFirst().getMessage()));
        }
        compiler.prepare(root.getChildren());
        return new Prepared(
                List.copyOf(root.getChildren()),
                Collections.unmodifiableList(compiler.parts),
                compiler.rewritten.pieces());
    }

    private void prepare(List<Node> nodes) {
        for (Node node : nodes) {
            if (node instanceof ExpressionNode) {
                int n = Integer.parseInt(((ExpressionToken) node.getMaster()).getExpr());
                parts.set(n, ExpressionParser.parse(rewritten.pieces().get(n), p -> p.tuple(true)));
            } else if (node instanceof TagNode tagNode) {
                if (!(tagNode.getTag() instanceof JinjaTag tag)) {
                    throw new TemplateFailure("the tag '" + tagNode.getName() + "' is not part of chat templates");
                }
                int n = Integer.parseInt(tagNode.getHelpers().strip());
                parts.set(n, tag.prepare(rewritten.pieces().get(n), tagNode, this));
                prepare(node.getChildren());
            }
        }
    }

    /// {@return whether an expression or tag inside a node mentions a name}
    ///
    /// @param node the node
    /// @param name the name
    boolean mentions(Node node, String name) {
        for (Node child : node.getChildren()) {
            String number = switch (child) {
                case ExpressionNode e -> ((ExpressionToken) e.getMaster()).getExpr();
                case TagNode t -> t.getHelpers().strip();
                default -> null;
            };
            if (number != null
                    && rewritten.pieces().get(Integer.parseInt(number)).contains(name)) {
                return true;
            }
            if (mentions(child, name)) {
                return true;
            }
        }
        return false;
    }

    private String readable(String message) {
        return message.replace(String.valueOf(SourceRewriter.OPEN), "{")
                .replace(String.valueOf(SourceRewriter.CLOSE), "}")
                .replaceAll(" [0-9]+ %", " %");
    }
}
