package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Access;
import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Builtin;
import dev.tenon.platform.templates.values.Callable;
import dev.tenon.platform.templates.values.Filters;
import dev.tenon.platform.templates.values.Operators;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Tests;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.TextBuilder;
import dev.tenon.platform.templates.values.Tuple;
import dev.tenon.platform.templates.values.Undefined;
import dev.tenon.platform.templates.values.Values;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// One rendering: scopes of names, the text written so far, the budget. A failure ends it, so
/// nothing needs to be undone. Not safe for several threads.
final class Renderer {
    private final Budget budget = new Budget();
    private final Clock clock;
    private Scope scope;
    private TextBuilder out = new TextBuilder();

    /// Starts a rendering with the clock of `strftime_now` and the variables, which are changed.
    Renderer(Clock clock, Map<String, Object> variables) {
        this.clock = clock;
        this.scope = new Scope(null, variables);
    }

    /// Names that are visible together, inside those of the parent, which may be null.
    record Scope(Scope parent, Map<String, Object> names) {}

    /// What happens after a statement; all but NEXT leave the bodies up to the loop.
    enum Flow {
        NEXT,
        BREAK,
        CONTINUE
    }

    Text render(List<Statement> body) {
        renderAll(body);
        return out.toText();
    }

    private Object lookUp(String name) {
        budget.step(1);
        for (Scope s = scope; s != null; s = s.parent) {
            Object value = s.names.get(name);
            if (value != null) {
                return value;
            }
        }
        Object function = Builtin.function(name, clock);
        return function == null ? new Undefined("'" + name + "' is undefined") : function;
    }

    /// Opens a scope and returns the one before, for [#leave(Scope)].
    private Scope enter(Scope parent) {
        budget.enter();
        Scope before = scope;
        scope = new Scope(parent, new HashMap<>());
        return before;
    }

    private void leave(Scope before) {
        budget.leave();
        scope = before;
    }

    private Flow renderAll(List<Statement> body) {
        for (Statement statement : body) {
            budget.step(1);
            Flow flow = render(statement);
            if (flow != Flow.NEXT) {
                return flow;
            }
        }
        return Flow.NEXT;
    }

    private Flow render(Statement statement) {
        return switch (statement) {
            case Statement.Output output -> write(Text.str(budget, eval(output.value())));
            case Statement.Assign set -> assign(set.target(), eval(set.value()));
            case Statement.If choice -> choose(choice);
            case Statement.For loop -> loop(loop, eval(loop.items()), scope, 0);
            case Statement.Macro macro -> set(macro.name(), macro(macro));
            case Statement.CallBlock block -> write(Text.str(budget, callWithBody(block)));
            case Statement.Capture capture -> capture(capture);
            case Statement.With with -> with(with);
            case Statement.Exit exit -> exit.flow();
        };
    }

    private Flow write(Text text) {
        budget.string(text.toString().length());
        out.append(text);
        return Flow.NEXT;
    }

    private Flow set(String name, Object value) {
        scope.names.put(name, value);
        return Flow.NEXT;
    }

    private Flow choose(Statement.If choice) {
        for (Statement.Branch branch : choice.branches()) {
            if (Values.truth(eval(branch.condition()))) {
                return renderAll(branch.body());
            }
        }
        return Flow.NEXT;
    }

    private Flow loop(Statement.For loop, Object value, Scope outer, int depth) {
        List<Object> items = Values.iterate(budget, value);
        if (loop.filter() != null) {
            List<Object> kept = new ArrayList<>();
            for (Object item : items) {
                Scope before = enter(outer);
                assign(loop.target(), item);
                if (Values.truth(eval(loop.filter()))) {
                    kept.add(item);
                }
                leave(before);
            }
            items = kept;
        }
        Loop state = new Loop(loop, items, outer, depth);
        Flow flow = Flow.NEXT;
        for (int i = 0; i < items.size() && flow != Flow.BREAK; i++) {
            state.index = i;
            Scope before = enter(outer);
            set("loop", state);
            assign(loop.target(), items.get(i));
            flow = renderAll(loop.body());
            leave(before);
        }
        return items.isEmpty() ? with(new Statement.With(List.of(), List.of(), loop.otherwise())) : Flow.NEXT;
    }

    /// {@return the text written since output was put aside, which goes on now}
    private Text captured(TextBuilder before) {
        Text text = out.toText();
        budget.string(text.toString().length());
        out = before;
        return text;
    }

    private Flow capture(Statement.Capture capture) {
        TextBuilder before = out;
        out = new TextBuilder();
        Flow flow = with(new Statement.With(List.of(), List.of(), capture.body()));
        Object value = captured(before);
        if (flow != Flow.NEXT) {
            return flow;
        }
        for (Expression.Use filter : capture.filters()) {
            value = filter(filter, value);
        }
        return capture.target() == null ? write(Text.str(budget, value)) : assign(capture.target(), value);
    }

    private Flow with(Statement.With with) {
        List<Object> values = evalAll(with.values());
        Scope before = enter(scope);
        for (int i = 0; i < values.size(); i++) {
            assign(with.targets().get(i), values.get(i));
        }
        Flow flow = renderAll(with.body());
        leave(before);
        return flow;
    }

    private Flow assign(Expression target, Object value) {
        if (target instanceof Expression.Name name) {
            return set(name.name(), value);
        }
        if (target instanceof Expression.Attribute attribute) {
            if (!(eval(attribute.base()) instanceof Builtin.Namespace space)) {
                throw new TemplateFailure("cannot assign attribute on non-namespace object");
            }
            space.attributes().put(Text.of(attribute.name()), value);
            return Flow.NEXT;
        }
        List<Expression> targets = ((Expression.Sequence) target).items();
        List<Object> values = Values.iterate(budget, value);
        if (values.size() != targets.size()) {
            throw new TemplateFailure((values.size() < targets.size() ? "not enough" : "too many")
                    + " values to unpack (expected " + targets.size() + ", got " + values.size() + ")");
        }
        for (int i = 0; i < values.size(); i++) {
            assign(targets.get(i), values.get(i));
        }
        return Flow.NEXT;
    }

    private Object callWithBody(Statement.CallBlock block) {
        Arguments given = arguments(block.call().inputs());
        Map<String, Object> named = new LinkedHashMap<>(given.named());
        named.put("caller", macro(block.caller()));
        return Values.call(budget, eval(block.call().target()), new Arguments(given.positional(), named));
    }

    private Callable macro(Statement.Macro macro) {
        return new MacroValue(this, macro, scope);
    }

    Text callMacro(Statement.Macro macro, Scope outer, Arguments args) {
        Map<String, Object> named = new LinkedHashMap<>(args.named());
        List<Object> positional = args.positional();
        Object caller = macro.uses().contains("caller") ? named.remove("caller") : null;
        int n = macro.parameters().size();
        TextBuilder text = out;
        out = new TextBuilder();
        Scope before = enter(outer);
        int next = 0;
        for (Map.Entry<String, Expression> parameter : macro.parameters().entrySet()) {
            String name = parameter.getKey();
            Object given = next < positional.size() ? positional.get(next) : named.remove(name);
            next++;
            Expression otherwise = parameter.getValue();
            Object missing = new Undefined("parameter '" + name + "' was not provided");
            set(name, given != null ? given : otherwise == null ? missing : eval(otherwise));
        }
        boolean tooMany = positional.size() > n && !macro.uses().contains("varargs");
        if (tooMany || !named.isEmpty() && !macro.uses().contains("kwargs")) {
            String what = tooMany ? "not more than " + n + " argument(s)" : "no keyword " + named.keySet();
            throw new TemplateFailure("macro '" + macro.name() + "' takes " + what);
        }
        set("varargs", new Tuple(positional.subList(Math.min(n, positional.size()), positional.size())));
        set("kwargs", Values.mapping(named));
        set("caller", caller == null ? new Undefined("No caller defined") : caller);
        renderAll(macro.body());
        leave(before);
        return captured(text);
    }

    private Object filter(Expression.Use filter, Object value) {
        budget.step(1);
        return Filters.apply(budget, filter.name(), value, arguments(filter.inputs()));
    }

    private boolean test(Expression.Use test, Object value) {
        budget.step(1);
        return Tests.holds(budget, test.name(), value, arguments(test.inputs()));
    }

    private List<Object> evalAll(List<Expression> items) {
        budget.step(items.size() + 1L);
        List<Object> values = new ArrayList<>(items.size());
        for (Expression item : items) {
            values.add(eval(item));
        }
        return values;
    }

    private Arguments arguments(Expression.Inputs inputs) {
        if (inputs == Expression.Inputs.NONE) {
            return Arguments.NONE;
        }
        List<Object> values = evalAll(inputs.positional());
        Map<String, Object> named = new LinkedHashMap<>();
        inputs.named().forEach((name, value) -> named.put(name, eval(value)));
        if (inputs.spread() != null) {
            values.addAll(Values.iterate(budget, eval(inputs.spread())));
        }
        if (inputs.mapping() != null) {
            named.putAll(Values.names(eval(inputs.mapping())));
        }
        return new Arguments(values, named);
    }

    Object eval(Expression expression) {
        return switch (expression) {
            case Expression.Literal literal -> literal.value();
            case Expression.Name name -> lookUp(name.name());
            case Expression.Attribute a -> Access.attribute(budget, eval(a.base()), a.name());
            case Expression.Item item -> Access.item(budget, eval(item.base()), eval(item.key()));
            case Expression.Call call -> {
                budget.step(1);
                Object target = eval(call.target());
                yield Values.call(budget, target, arguments(call.inputs()));
            }
            case Expression.Filtered filtered -> filter(filtered.filter(), eval(filtered.value()));
            case Expression.Tested tested -> test(tested.test(), eval(tested.value()));
            case Expression.Not not -> !Values.truth(eval(not.value()));
            case Expression.Binary binary -> binary(binary);
            case Expression.Choice c -> eval(Values.truth(eval(c.condition())) ? c.yes() : c.no());
            case Expression.Slice s ->
                Access.slice(budget, eval(s.base()), eval(s.start()), eval(s.stop()), eval(s.step()));
            case Expression.Negative negative -> Operators.negate(eval(negative.value()));
            case Expression.Sequence list -> {
                List<Object> values = evalAll(list.items());
                yield list.tuple() ? new Tuple(values) : values;
            }
            case Expression.Dict dict -> {
                List<Object> values = evalAll(dict.items());
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < values.size(); i += 2) {
                    map.put(Values.key(values.get(i)), values.get(i + 1));
                }
                yield map;
            }
        };
    }

    private Object binary(Expression.Binary binary) {
        budget.step(1);
        Object left = eval(binary.left());
        return switch (binary.operator()) {
            case "and" -> Values.truth(left) ? eval(binary.right()) : left;
            case "or" -> Values.truth(left) ? left : eval(binary.right());
            case "~" -> joined(Text.str(budget, left), Text.str(budget, eval(binary.right())));
            default -> Operators.binary(budget, binary.operator(), left, eval(binary.right()));
        };
    }

    private Text joined(Text left, Text right) {
        budget.string((long) left.toString().length() + right.toString().length());
        return left.concat(right);
    }

    /// The `loop` variable of a running loop; a recursive loop may be called with other items.
    private final class Loop implements Callable {
        private final Statement.For loop;
        private final List<Object> items;
        private final Scope outer;
        private final int depth;
        private int index;
        private Object lastChanged;

        Loop(Statement.For loop, List<Object> items, Scope outer, int depth) {
            this.loop = loop;
            this.items = items;
            this.outer = outer;
            this.depth = depth;
        }

        @Override
        public Object call(Budget limits, Arguments arguments) {
            if (!loop.recursive()) {
                throw new TemplateFailure("The loop must have the 'recursive' marker to be called recursively.");
            }
            TextBuilder before = out;
            out = new TextBuilder();
            loop(loop, arguments.need(0, "iterable"), outer, depth + 1);
            return captured(before);
        }

        @Override
        public Object attribute(String name) {
            int n = items.size();
            return switch (name) {
                case "index" -> index + 1L;
                case "index0" -> (long) index;
                case "revindex" -> (long) n - index;
                case "revindex0" -> n - index - 1L;
                case "first" -> index == 0;
                case "last" -> index == n - 1;
                case "length" -> (long) n;
                case "depth" -> depth + 1L;
                case "depth0" -> (long) depth;
                case "previtem" -> index > 0 ? items.get(index - 1) : new Undefined("there is no previous item");
                case "nextitem" -> index < n - 1 ? items.get(index + 1) : new Undefined("there is no next item");
                case "cycle" ->
                    (Callable)
                            (b, a) -> a.need(index % Math.max(1, a.positional().size()), "items");
                case "changed" -> (Callable) (b, a) -> changed(a.positional());
                default -> null;
            };
        }

        private boolean changed(List<Object> values) {
            boolean changed = lastChanged == null || !Operators.compare(budget, "==", lastChanged, values);
            lastChanged = values;
            return changed;
        }
    }
}
