package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Lexer.Kind;
import dev.tenon.platform.templates.values.Text;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Reads a template's statements. Tags that read other templates do not exist.
final class TemplateParser extends ExpressionParser {
    private boolean inLoop;

    private TemplateParser(String source) {
        super(source);
    }

    static List<Statement> parse(String source) {
        return new TemplateParser(source).body();
    }

    /// Reads up to one of the given tags, of which it takes the beginning, or to the end if none is given.
    private List<Statement> body(String... ends) {
        enter();
        List<Statement> body = new ArrayList<>();
        while (!at(Kind.END)) {
            Kind kind = peek().kind();
            String text = next();
            if (kind == Kind.TEXT) {
                body.add(new Statement.Output(new Expression.Literal(Text.of(text))));
            } else if (kind == Kind.EXPRESSION) {
                body.add(new Statement.Output(tuple(true)));
                need("}}");
                requireKnown();
            } else if (at(Kind.NAME) && List.of(ends).contains(peek().text())) {
                leave();
                return body;
            } else {
                body.add(statement(name()));
                need("%}");
                requireKnown();
            }
        }
        if (ends.length > 0) {
            throw expected("'" + ends[ends.length - 1] + "'");
        }
        return body;
    }

    /// Reads the end of a tag and a body after it.
    private List<Statement> bodyAfterTag(String... ends) {
        need("%}");
        requireKnown();
        return body(ends);
    }

    /// Reads the end of a tag, a body after it, and the name of the tag that ends it.
    private List<Statement> block(String end) {
        boolean before = choosing(false);
        List<Statement> body = bodyAfterTag(end);
        choosing(before);
        next();
        return body;
    }

    private Statement statement(String tag) {
        return switch (tag) {
            case "if" -> ifStatement();
            case "for" -> forStatement();
            case "set" -> set();
            case "macro" -> macro(name(), parameters(), "endmacro");
            case "call" -> call();
            case "filter" -> capture(null, new ArrayList<>(List.of(filter())), "endfilter");
            case "with" -> with();
            case "autoescape" -> {
                if (!(expression() instanceof Expression.Literal off)
                        || !off.value().equals(false)) {
                    throw failure("only 'autoescape false' is part of chat templates");
                }
                yield new Statement.With(List.of(), List.of(), block("endautoescape"));
            }
            case "block" -> namedBlock();
            case "print" -> {
                List<Statement> values = new ArrayList<>();
                do {
                    values.add(new Statement.Output(expression()));
                } while (take(","));
                yield new Statement.With(List.of(), List.of(), values);
            }
            case "generation" -> new Statement.With(List.of(), List.of(), block("endgeneration"));
            case "do" -> new Statement.If(List.of(new Statement.Branch(tuple(true), List.of())));
            case "break", "continue" -> {
                if (!inLoop) {
                    throw failure("'" + tag + "' stands outside of a loop");
                }
                yield new Statement.Exit(tag.equals("break") ? Renderer.Flow.BREAK : Renderer.Flow.CONTINUE);
            }
            default -> throw failure("the tag '" + tag + "' is not part of chat templates or stands alone");
        };
    }

    private Statement ifStatement() {
        List<Statement.Branch> branches = new ArrayList<>();
        boolean before = choosing(true);
        do {
            Expression condition = tuple(true);
            branches.add(new Statement.Branch(condition, bodyAfterTag("elif", "else", "endif")));
        } while (take("elif"));
        if (take("else")) {
            branches.add(new Statement.Branch(new Expression.Literal(true), bodyAfterTag("endif")));
        }
        need("endif");
        choosing(before);
        return new Statement.If(branches);
    }

    private Statement forStatement() {
        Expression target = target();
        need("in");
        Expression items = tuple(false);
        Expression filter = take("if") ? expression() : null;
        boolean recursive = take("recursive");
        boolean outer = inLoop;
        boolean before = choosing(false);
        inLoop = true;
        List<Statement> body = bodyAfterTag("else", "endfor");
        inLoop = outer;
        List<Statement> otherwise = take("else") ? bodyAfterTag("endfor") : List.of();
        choosing(before);
        need("endfor");
        return new Statement.For(target, items, filter, recursive, body, otherwise);
    }

    private Expression target() {
        Expression first = assignable(operand());
        if (!at(",")) {
            return first;
        }
        List<Expression> several = new ArrayList<>(List.of(first));
        while (take(",") && !at("=") && !at("in")) {
            several.add(assignable(operand()));
        }
        return new Expression.Sequence(several, true);
    }

    private Expression assignable(Expression target) {
        if (target instanceof Expression.Sequence several && several.tuple()) {
            several.items().forEach(this::assignable);
        } else if (!(target instanceof Expression.Name)
                && !(target instanceof Expression.Attribute attribute && attribute.base() instanceof Expression.Name)) {
            throw failure("only names can be assigned to");
        }
        return target;
    }

    private Statement set() {
        Expression target = target();
        return take("=") ? new Statement.Assign(target, tuple(true)) : capture(target, new ArrayList<>(), "endset");
    }

    private Statement capture(Expression target, List<Expression.Use> filters, String end) {
        while (take("|")) {
            filters.add(filter());
        }
        return new Statement.Capture(target, filters, block(end));
    }

    private Map<String, Expression> parameters() {
        Map<String, Expression> parameters = new LinkedHashMap<>();
        need("(");
        while (!take(")")) {
            parameters.put(name(), take("=") ? expression() : null);
            separator(")");
        }
        return parameters;
    }

    /// Reads a body that is rendered when it is called.
    private Statement.Macro macro(String name, Map<String, Expression> parameters, String end) {
        boolean before = inLoop;
        Set<String> outer = specialNames(new HashSet<>());
        inLoop = false;
        List<Statement> body = block(end);
        inLoop = before;
        Set<String> uses = specialNames(outer);
        outer.addAll(uses);
        return new Statement.Macro(name, parameters, body, uses);
    }

    private Statement call() {
        Map<String, Expression> parameters = at("(") ? parameters() : Map.of();
        if (!(expression() instanceof Expression.Call call)) {
            throw expected("a call");
        }
        return new Statement.CallBlock(macro("caller", parameters, "endcall"), call);
    }

    private Statement with() {
        List<Expression> targets = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (!at("%}")) {
            targets.add(assignable(operand()));
            need("=");
            values.add(expression());
            separator("%}");
        }
        return new Statement.With(targets, values, block("endwith"));
    }

    /// A block is written where it stands, because nothing can extend a chat template.
    private Statement namedBlock() {
        name();
        take("scoped");
        take("required");
        Statement block = new Statement.With(List.of(), List.of(), block("endblock"));
        if (at(Kind.NAME)) {
            name();
        }
        return block;
    }
}
