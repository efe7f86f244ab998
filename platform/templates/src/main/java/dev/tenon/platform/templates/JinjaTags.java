package dev.tenon.platform.templates;

import com.hubspot.jinjava.tree.Node;
import com.hubspot.jinjava.tree.TagNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The tags of chat templates, except `for`.
final class JinjaTags {
    /// Name that the rewritten template uses for `set` with a body.
    static final String SET_BLOCK = "setblock";

    private static final String CAPTURED = " captured";

    private JinjaTags() {}

    /// {@return new instances of all tags}
    static List<JinjaTag> all() {
        return List.of(
                new If(),
                new Branch("elif"),
                new Branch("else"),
                new ForTag(),
                new Set(),
                new SetBlock(),
                new MacroTag(),
                new Call(),
                new FilterBlock(),
                new With(),
                new Do(),
                new Exit("break", LoopExit.BREAK),
                new Exit("continue", LoopExit.CONTINUE),
                new Plain("generation", "endgeneration"));
    }

    /// {@return whether a node is a tag of a name}
    static boolean is(Node node, String name) {
        return node instanceof TagNode tag && tag.getName().equals(name);
    }

    private static Eval captured() {
        return frame -> frame.lookUp(CAPTURED);
    }

    private static final class If extends JinjaTag {
        private static final long serialVersionUID = 1L;

        If() {
            super("if", "endif");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> p.tuple(true));
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            boolean taken = PyOps.truth(((Eval) part).eval(frame));
            boolean done = false;
            List<Node> body = new ArrayList<>();
            for (Node child : node.getChildren()) {
                boolean otherwise = is(child, "else");
                if (otherwise || is(child, "elif")) {
                    done |= taken;
                    if (done) {
                        break;
                    }
                    taken = otherwise
                            || PyOps.truth(((Eval) frame.prepared.part(((TagNode) child).getHelpers())).eval(frame));
                } else if (taken) {
                    body.add(child);
                }
            }
            frame.render(body);
        }
    }

    /// `elif` and `else`, which their parents read.
    private static final class Branch extends JinjaTag {
        private static final long serialVersionUID = 1L;

        Branch(String name) {
            super(name, null);
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            Node parent = node.getParent();
            if (!is(parent, "if") && !(is(parent, "for") && getName().equals("else"))) {
                throw new TemplateFailure("'" + getName() + "' stands outside of an 'if'");
            }
            return getName().equals("else") ? nothing(text) : ExpressionParser.parse(text, p -> p.tuple(true));
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            throw new TemplateFailure("'" + getName() + "' stands outside of an 'if'");
        }
    }

    private record Assignment(List<String> names, String attribute, Eval value) {
        void assign(Frame frame, Object result) {
            if (attribute != null) {
                if (!(frame.lookUp(names.getFirst()) instanceof Namespace space)) {
                    throw new TemplateFailure("cannot assign attribute on non-namespace object");
                }
                space.attributes().put(attribute, result);
            } else {
                ForTag.assign(frame, names, result);
            }
        }
    }

    private static Assignment target(ExpressionParser p)
            throws jinjava.de.odysseus.el.tree.impl.Scanner.ScanException,
                    jinjava.de.odysseus.el.tree.impl.Parser.ParseException {
        List<String> names = p.targets();
        return new Assignment(names, names.size() == 1 && p.take(".") ? p.name() : null, null);
    }

    private static final class Set extends JinjaTag {
        private static final long serialVersionUID = 1L;

        Set() {
            super("set", null);
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> {
                Assignment target = target(p);
                p.need("=");
                return new Assignment(target.names, target.attribute, p.tuple(true));
            });
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            Assignment assignment = (Assignment) part;
            assignment.assign(frame, assignment.value.eval(frame));
        }
    }

    private static final class SetBlock extends JinjaTag {
        private static final long serialVersionUID = 1L;

        SetBlock() {
            super(SET_BLOCK, "endset");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> {
                Assignment target = target(p);
                return new Assignment(target.names, target.attribute, filterChain(p, captured()));
            });
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            Assignment assignment = (Assignment) part;
            assignment.assign(frame, filtered(node, assignment.value, frame));
        }
    }

    private static Eval filterChain(ExpressionParser p, Eval start)
            throws jinjava.de.odysseus.el.tree.impl.Scanner.ScanException,
                    jinjava.de.odysseus.el.tree.impl.Parser.ParseException {
        Eval value = start;
        while (p.take("|")) {
            value = p.filter(value);
        }
        return value;
    }

    /// Renders a body in its own scope and sends the text through filters.
    private static Object filtered(TagNode node, Eval filters, Frame frame) {
        String text = frame.capture(
                () -> frame.inScope(frame.scope(), new HashMap<>(), () -> frame.render(node.getChildren())));
        Object[] result = new Object[1];
        frame.inScope(frame.scope(), new HashMap<>(Map.of(CAPTURED, text)), () -> result[0] = filters.eval(frame));
        return result[0];
    }

    private static final class FilterBlock extends JinjaTag {
        private static final long serialVersionUID = 1L;

        FilterBlock() {
            super("filter", "endfilter");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> filterChain(p, p.filter(captured())));
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            frame.write(PyText.str(frame, filtered(node, (Eval) part, frame)));
        }
    }

    private record Signature(String name, List<Macro.Parameter> parameters, boolean varargs, boolean kwargs) {
        Macro macro(TagNode node, Frame frame) {
            return new Macro(name, parameters, node.getChildren(), frame.scope(), varargs, kwargs);
        }
    }

    private static Signature signature(String name, ExpressionParser p, TagNode node, TemplateCompiler compiler)
            throws jinjava.de.odysseus.el.tree.impl.Scanner.ScanException,
                    jinjava.de.odysseus.el.tree.impl.Parser.ParseException {
        List<Macro.Parameter> parameters = new ArrayList<>();
        p.need("(");
        while (!p.at(")")) {
            String parameter = p.name();
            parameters.add(new Macro.Parameter(parameter, p.take("=") ? p.expression() : null));
            if (!p.take(",")) {
                break;
            }
        }
        p.need(")");
        return new Signature(name, parameters, compiler.mentions(node, "varargs"), compiler.mentions(node, "kwargs"));
    }

    private static final class MacroTag extends JinjaTag {
        private static final long serialVersionUID = 1L;

        MacroTag() {
            super("macro", "endmacro");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> signature(p.name(), p, node, compiler));
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            Macro macro = ((Signature) part).macro(node, frame);
            frame.set(macro.name(), macro);
        }
    }

    private record CallPart(Signature signature, Eval target, Nodes.Arguments arguments) {}

    private static final class Call extends JinjaTag {
        private static final long serialVersionUID = 1L;

        Call() {
            super("call", "endcall");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> {
                Signature signature = p.at("(")
                        ? signature("caller", p, node, compiler)
                        : new Signature("caller", List.of(), false, false);
                Eval target = Nodes.name(p.name());
                while (p.take(".")) {
                    target = Nodes.attribute(target, p.name());
                }
                return new CallPart(signature, target, p.arguments());
            });
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            CallPart call = (CallPart) part;
            Callable.Args args = call.arguments.eval(frame);
            Map<String, Object> named = new HashMap<>(args.named());
            named.put("caller", call.signature.macro(node, frame));
            Object result = PyOps.call(frame, call.target.eval(frame), new Callable.Args(args.positional(), named));
            frame.write(PyText.str(frame, result));
        }
    }

    private static final class With extends JinjaTag {
        private static final long serialVersionUID = 1L;

        With() {
            super("with", "endwith");
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> {
                List<Assignment> all = new ArrayList<>();
                while (!p.atEnd()) {
                    String name = p.name();
                    p.need("=");
                    all.add(new Assignment(List.of(name), null, p.expression()));
                    if (!p.take(",")) {
                        break;
                    }
                }
                return all;
            });
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            Map<String, Object> names = new HashMap<>();
            for (Object assignment : (List<?>) part) {
                Assignment a = (Assignment) assignment;
                names.put(a.names.getFirst(), a.value.eval(frame));
            }
            frame.inScope(frame.scope(), names, () -> frame.render(node.getChildren()));
        }
    }

    private static final class Do extends JinjaTag {
        private static final long serialVersionUID = 1L;

        Do() {
            super("do", null);
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return ExpressionParser.parse(text, p -> p.tuple(true));
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            ((Eval) part).eval(frame);
        }
    }

    private static final class Exit extends JinjaTag {
        private static final long serialVersionUID = 1L;

        private final LoopExit exit;

        Exit(String name, LoopExit exit) {
            super(name, null);
            this.exit = exit;
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            Node loop = node.getParent();
            while (loop != null && !is(loop, "for") && !is(loop, "macro") && !is(loop, "call")) {
                loop = loop.getParent();
            }
            if (loop == null || !is(loop, "for")) {
                throw new TemplateFailure("'" + getName() + "' stands outside of a loop");
            }
            return nothing(text);
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            throw exit;
        }
    }

    /// A tag that only marks its body, such as `generation`.
    private static final class Plain extends JinjaTag {
        private static final long serialVersionUID = 1L;

        Plain(String name, String end) {
            super(name, end);
        }

        @Override
        Object prepare(String text, TagNode node, TemplateCompiler compiler) {
            return nothing(text);
        }

        @Override
        void render(TagNode node, Object part, Frame frame) {
            frame.render(node.getChildren());
        }
    }
}
