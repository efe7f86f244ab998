package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A part of a template that writes or sets something. Immutable.
sealed interface Statement {
    /// How a body goes on after a statement.
    enum Flow {
        NEXT,
        BREAK,
        CONTINUE
    }

    /// Renders it.
    ///
    /// @return anything but NEXT leaves the bodies around it up to the loop
    Flow render(Frame frame);

    /// Renders statements in order, up to one that leaves the body.
    static Flow renderAll(List<Statement> body, Frame frame) {
        for (Statement statement : body) {
            frame.budget.step(1);
            Flow flow = statement.render(frame);
            if (flow != Flow.NEXT) {
                return flow;
            }
        }
        return Flow.NEXT;
    }

    private static Flow renderInScope(List<Statement> body, Frame frame) {
        Frame.Scope before = frame.enter(frame.scope());
        Flow flow = renderAll(body, frame);
        frame.leave(before);
        return flow;
    }

    /// Text as it stands.
    record Raw(String text) implements Statement {
        @Override
        public Flow render(Frame frame) {
            frame.write(text);
            return Flow.NEXT;
        }
    }

    /// `{{ value }}`.
    record Output(Expression value) implements Statement {
        @Override
        public Flow render(Frame frame) {
            frame.write(Text.str(frame.budget, value.eval(frame)));
            return Flow.NEXT;
        }
    }

    /// `do`: a value that is not written.
    record Do(Expression value) implements Statement {
        @Override
        public Flow render(Frame frame) {
            value.eval(frame);
            return Flow.NEXT;
        }
    }

    /// `break` and `continue`.
    record Exit(Flow flow) implements Statement {
        @Override
        public Flow render(Frame frame) {
            return flow;
        }
    }

    /// A condition and what is rendered if it holds.
    record Branch(Expression condition, List<Statement> body) {}

    /// `if`: the body of the first branch that holds, or else another.
    record If(List<Branch> branches, List<Statement> otherwise) implements Statement {
        @Override
        public Flow render(Frame frame) {
            for (Branch branch : branches) {
                if (Values.truth(branch.condition.eval(frame))) {
                    return renderAll(branch.body, frame);
                }
            }
            return renderAll(otherwise, frame);
        }
    }

    /// `for`; the filter may be null. Each item has a scope of its own.
    record For(
            Target target,
            Expression items,
            Expression filter,
            boolean recursive,
            List<Statement> body,
            List<Statement> otherwise)
            implements Statement {
        @Override
        public Flow render(Frame frame) {
            return loop(frame, items.eval(frame), frame.scope(), 0);
        }

        /// Renders the loop over a value's items.
        Flow loop(Frame frame, Object value, Frame.Scope scope, int depth) {
            List<Object> all = filtered(frame, Values.iterate(frame.budget, value), scope);
            Loop loop = new Loop(this, all, frame, scope, depth);
            Flow flow = Flow.NEXT;
            for (int i = 0; i < all.size() && flow != Flow.BREAK; i++) {
                loop.moveTo(i);
                Frame.Scope before = frame.enter(scope);
                frame.set("loop", loop);
                target.assign(frame, all.get(i));
                flow = renderAll(body, frame);
                frame.leave(before);
            }
            if (!all.isEmpty()) {
                return Flow.NEXT;
            }
            Frame.Scope before = frame.enter(scope);
            flow = renderAll(otherwise, frame);
            frame.leave(before);
            return flow;
        }

        private List<Object> filtered(Frame frame, List<Object> all, Frame.Scope scope) {
            if (filter == null) {
                return all;
            }
            List<Object> kept = new ArrayList<>();
            for (Object item : all) {
                Frame.Scope before = frame.enter(scope);
                target.assign(frame, item);
                if (Values.truth(filter.eval(frame))) {
                    kept.add(item);
                }
                frame.leave(before);
            }
            return kept;
        }
    }

    /// `set target = value`.
    record Set(Target target, Expression value) implements Statement {
        @Override
        public Flow render(Frame frame) {
            target.assign(frame, value.eval(frame));
            return Flow.NEXT;
        }
    }

    /// `set target` and `filter` with a body, whose text goes through filters; without a target it is written.
    record Capture(Target target, List<Expression.Use> filters, List<Statement> body) implements Statement {
        @Override
        public Flow render(Frame frame) {
            StringBuilder before = frame.capture();
            Flow flow = renderInScope(body, frame);
            Object value = frame.captured(before);
            if (flow != Flow.NEXT) {
                return flow;
            }
            for (Expression.Use filter : filters) {
                value = filter.filter(frame, value);
            }
            if (target == null) {
                frame.write(Text.str(frame.budget, value));
            } else {
                target.assign(frame, value);
            }
            return Flow.NEXT;
        }
    }

    /// `with`: names for the body only; also a body that only has a scope, such as `generation`.
    record With(List<Target> targets, List<Expression> values, List<Statement> body) implements Statement {
        @Override
        public Flow render(Frame frame) {
            List<Object> results = new ArrayList<>();
            for (Expression value : values) {
                results.add(value.eval(frame));
            }
            Frame.Scope before = frame.enter(frame.scope());
            for (int i = 0; i < results.size(); i++) {
                targets.get(i).assign(frame, results.get(i));
            }
            Flow flow = renderAll(body, frame);
            frame.leave(before);
            return flow;
        }
    }

    /// `macro`.
    record MacroDefinition(Macro.Signature signature) implements Statement {
        @Override
        public Flow render(Frame frame) {
            frame.set(signature.name(), new Macro(signature, frame, frame.scope()));
            return Flow.NEXT;
        }
    }

    /// `call`: calls a macro that may call the body.
    record CallBlock(Macro.Signature caller, Expression.Call call) implements Statement {
        @Override
        public Flow render(Frame frame) {
            Arguments given = call.inputs().eval(frame);
            Map<String, Object> named = new LinkedHashMap<>(given.named());
            named.put("caller", new Macro(caller, frame, frame.scope()));
            Arguments arguments = new Arguments(given.positional(), named);
            Object result = Values.call(frame.budget, call.target().eval(frame), arguments);
            frame.write(Text.str(frame.budget, result));
            return Flow.NEXT;
        }
    }
}
