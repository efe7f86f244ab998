package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Token.Kind;
import java.util.ArrayList;
import java.util.List;

/// Reads a template's statements. Tags that read other templates do not exist.
final class TemplateParser {
    private final Tokens tokens;
    private final ExpressionParser expressions;
    private boolean inLoop;

    private TemplateParser(Tokens tokens) {
        this.tokens = tokens;
        this.expressions = new ExpressionParser(tokens);
    }

    /// {@return the statements of a template}
    static List<Statement> parse(String source) {
        return new TemplateParser(new Tokens(Lexer.normalize(source))).body("the template");
    }

    /// Reads up to one of the given tags, of which it takes the beginning and the name, or to the end if none is given.
    private List<Statement> body(String opened, String... ends) {
        tokens.enter();
        List<Statement> body = new ArrayList<>();
        while (!tokens.at(Kind.END)) {
            Kind kind = tokens.peek().kind();
            String text = tokens.next();
            if (kind == Kind.TEXT) {
                body.add(new Statement.Raw(text));
            } else if (kind == Kind.EXPRESSION_BEGIN) {
                body.add(new Statement.Output(expressions.tuple(true)));
                tokens.need(Kind.EXPRESSION_END, "'}}'");
            } else {
                for (String end : ends) {
                    if (tokens.at(end)) {
                        tokens.leave();
                        return body;
                    }
                }
                body.add(statement(tokens.name()));
                tokens.need(Kind.TAG_END, "'%}'");
            }
        }
        if (ends.length > 0) {
            throw tokens.failure("'" + opened + "' has no '" + ends[ends.length - 1] + "'");
        }
        tokens.leave();
        return body;
    }

    /// Reads the rest of a tag and a body after it.
    private List<Statement> bodyAfterTag(String opened, String... ends) {
        tokens.need(Kind.TAG_END, "'%}'");
        return body(opened, ends);
    }

    /// Reads the rest of a tag, a body after it, and the name of its end.
    private List<Statement> block(String tag) {
        List<Statement> body = bodyAfterTag(tag, "end" + tag);
        tokens.next();
        return body;
    }

    private Statement statement(String tag) {
        return switch (tag) {
            case "if" -> ifStatement();
            case "for" -> forStatement();
            case "set" -> set();
            case "macro" -> new Statement.MacroDefinition(macro(tag, tokens.name(), true));
            case "call" -> call();
            case "filter" -> {
                List<Expression.Use> filters = filters(expressions.filter());
                yield new Statement.Capture(null, filters, block(tag));
            }
            case "with" -> with();
            case "generation" -> new Statement.With(List.of(), List.of(), block(tag));
            case "do" -> new Statement.Do(expressions.tuple(true));
            case "break", "continue" -> {
                if (!inLoop) {
                    throw tokens.failure("'" + tag + "' stands outside of a loop");
                }
                yield new Statement.Exit(tag.equals("break") ? Statement.Flow.BREAK : Statement.Flow.CONTINUE);
            }
            default -> throw tokens.failure("there is no tag '" + tag + "' here in chat templates");
        };
    }

    private Statement ifStatement() {
        List<Statement.Branch> branches = new ArrayList<>();
        do {
            Expression condition = expressions.tuple(true);
            branches.add(new Statement.Branch(condition, bodyAfterTag("if", "elif", "else", "endif")));
        } while (tokens.take("elif"));
        List<Statement> otherwise = tokens.take("else") ? bodyAfterTag("if", "endif") : List.of();
        tokens.need("endif");
        return new Statement.If(branches, otherwise);
    }

    private Statement forStatement() {
        Target target = target(false);
        tokens.need("in");
        Expression items = expressions.tuple(false);
        Expression filter = tokens.take("if") ? expressions.expression() : null;
        boolean recursive = tokens.take("recursive");
        boolean before = inLoop;
        inLoop = true;
        List<Statement> body = bodyAfterTag("for", "else", "endfor");
        inLoop = before;
        List<Statement> otherwise = tokens.take("else") ? bodyAfterTag("for", "endfor") : List.of();
        tokens.need("endfor");
        return new Statement.For(target, items, filter, recursive, body, otherwise);
    }

    /// Reads names to assign to, separated by commas.
    private Target target(boolean attributes) {
        List<Target> targets = new ArrayList<>();
        boolean several = false;
        do {
            if (tokens.at("=") || tokens.at("in") || tokens.at(")")) {
                break;
            }
            targets.add(oneTarget(attributes));
            several |= tokens.at(",");
        } while (tokens.take(","));
        if (targets.isEmpty()) {
            throw tokens.expected("a name");
        }
        return several ? new Target.Several(targets) : targets.getFirst();
    }

    private Target oneTarget(boolean attributes) {
        if (tokens.take("(")) {
            tokens.enter();
            Target inner = target(attributes);
            tokens.leave();
            tokens.need(")");
            return inner;
        }
        String name = tokens.name();
        if (List.of("true", "false", "none", "True", "False", "None").contains(name)) {
            throw tokens.failure("nothing can be assigned to '" + name + "'");
        }
        return attributes && tokens.take(".")
                ? new Target.Attribute(name, tokens.name())
                : new Target.Variable(name);
    }

    private Statement set() {
        Target target = target(true);
        if (tokens.take("=")) {
            return new Statement.Set(target, expressions.tuple(true));
        }
        List<Expression.Use> filters = filters(null);
        return new Statement.Capture(target, filters, block("set"));
    }

    private List<Expression.Use> filters(Expression.Use first) {
        List<Expression.Use> filters = new ArrayList<>();
        if (first != null) {
            filters.add(first);
        }
        while (tokens.take("|")) {
            filters.add(expressions.filter());
        }
        return filters;
    }

    /// Reads parameters in brackets, if there are any, and a body, which is rendered when it is called.
    private Macro.Signature macro(String tag, String name, boolean bodyFollows) {
        List<String> parameters = new ArrayList<>();
        List<Expression> defaults = new ArrayList<>();
        tokens.need("(");
        while (!tokens.at(")")) {
            parameters.add(tokens.name());
            defaults.add(tokens.take("=") ? expressions.expression() : null);
            if (!tokens.take(",")) {
                break;
            }
        }
        tokens.need(")");
        return bodyFollows
                ? withBody(tag, name, parameters, defaults)
                : new Macro.Signature(name, parameters, defaults, List.of(), false);
    }

    private Macro.Signature withBody(
            String tag, String name, List<String> parameters, List<Expression> defaults) {
        boolean before = inLoop;
        int special = expressions.specialNames();
        inLoop = false;
        List<Statement> body = block(tag);
        inLoop = before;
        return new Macro.Signature(name, parameters, defaults, body, expressions.specialNames() > special);
    }

    private Statement call() {
        Macro.Signature head = tokens.at("(")
                ? macro("call", "caller", false)
                : new Macro.Signature("caller", List.of(), List.of(), List.of(), false);
        if (!(expressions.expression() instanceof Expression.Call call)) {
            throw tokens.expected("a call");
        }
        return new Statement.CallBlock(withBody("call", "caller", head.parameters(), head.defaults()), call);
    }

    private Statement with() {
        List<Target> targets = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (!tokens.at(Kind.TAG_END)) {
            targets.add(oneTarget(false));
            tokens.need("=");
            values.add(expressions.expression());
            if (!tokens.take(",")) {
                break;
            }
        }
        return new Statement.With(targets, values, block("with"));
    }
}
