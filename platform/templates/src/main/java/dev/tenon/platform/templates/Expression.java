package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Access;
import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Comparison;
import dev.tenon.platform.templates.values.Filters;
import dev.tenon.platform.templates.values.None;
import dev.tenon.platform.templates.values.Operator;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Tests;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.Tuple;
import dev.tenon.platform.templates.values.Undefined;
import dev.tenon.platform.templates.values.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A parsed expression. Immutable.
sealed interface Expression {
    /// {@return its value in a rendering; never null}
    Object eval(Frame frame);

    /// A constant.
    record Literal(Object value) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return value;
        }
    }

    /// A variable or function.
    record Name(String name) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(1);
            Object value = frame.lookUp(name);
            return value == null ? new Undefined("'" + name + "' is undefined") : value;
        }
    }

    /// A list or tuple.
    record Sequence(List<Expression> items, boolean tuple) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(items.size() + 1L);
            List<Object> values = evalAll(items, frame);
            return tuple ? new Tuple(values) : values;
        }
    }

    private static List<Object> evalAll(List<Expression> items, Frame frame) {
        List<Object> values = new ArrayList<>(items.size());
        for (Expression item : items) {
            values.add(item.eval(frame));
        }
        return values;
    }

    /// A dictionary: keys and values in turn.
    record Dict(List<Expression> items) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(items.size() + 1L);
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = 0; i < items.size(); i += 2) {
                map.put(Values.key(items.get(i).eval(frame)), items.get(i + 1).eval(frame));
            }
            return map;
        }
    }

    /// `yes if condition else no`, of which `no` may be null.
    record Choice(Expression condition, Expression yes, Expression no) implements Expression {
        @Override
        public Object eval(Frame frame) {
            if (Values.truth(condition.eval(frame))) {
                return yes.eval(frame);
            }
            return no == null ? new Undefined("the inline if-expression is false and has no else") : no.eval(frame);
        }
    }

    /// `left or right`.
    record Or(Expression left, Expression right) implements Expression {
        @Override
        public Object eval(Frame frame) {
            Object value = left.eval(frame);
            return Values.truth(value) ? value : right.eval(frame);
        }
    }

    /// `left and right`.
    record And(Expression left, Expression right) implements Expression {
        @Override
        public Object eval(Frame frame) {
            Object value = left.eval(frame);
            return Values.truth(value) ? right.eval(frame) : value;
        }
    }

    /// `not value`.
    record Not(Expression value) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return !Values.truth(value.eval(frame));
        }
    }

    /// A chain of comparisons, such as `a < b <= c`.
    record Compare(Expression first, List<Comparison> operators, List<Expression> operands) implements Expression {
        @Override
        public Object eval(Frame frame) {
            Object left = first.eval(frame);
            for (int i = 0; i < operators.size(); i++) {
                Object right = operands.get(i).eval(frame);
                if (!operators.get(i).holds(frame.budget, left, right)) {
                    return false;
                }
                left = right;
            }
            return true;
        }
    }

    /// Arithmetic.
    record Binary(Operator operator, Expression left, Expression right) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(1);
            return operator.apply(frame.budget, left.eval(frame), right.eval(frame));
        }
    }

    /// `-value`.
    record Negative(Expression value) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return Operator.negate(value.eval(frame));
        }
    }

    /// `a ~ b ~ c`.
    record Concatenation(List<Expression> parts) implements Expression {
        @Override
        public Object eval(Frame frame) {
            StringBuilder text = new StringBuilder();
            for (Expression part : parts) {
                text.append(Text.str(frame.budget, part.eval(frame)));
                Budget.check(text);
            }
            return frame.budget.made(text.toString());
        }
    }

    /// `base[key]`.
    record Item(Expression base, Expression key) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return Access.item(frame.budget, base.eval(frame), key.eval(frame));
        }
    }

    /// `base.name`.
    record Attribute(Expression base, String name) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return Access.attribute(frame.budget, base.eval(frame), name);
        }
    }

    /// `base[start:stop:step]`; each bound may be null.
    record Slice(Expression base, Expression start, Expression stop, Expression step) implements Expression {
        @Override
        public Object eval(Frame frame) {
            Object value = base.eval(frame);
            return Access.slice(frame.budget, value, bound(start, frame), bound(stop, frame), bound(step, frame));
        }

        private static Object bound(Expression bound, Frame frame) {
            return bound == null ? None.NONE : bound.eval(frame);
        }
    }

    /// `target(arguments)`.
    record Call(Expression target, Inputs inputs) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(1);
            Object callee = target.eval(frame);
            return Values.call(frame.budget, callee, inputs.eval(frame));
        }
    }

    /// `value | filter`.
    record Filtered(Expression value, Use filter) implements Expression {
        @Override
        public Object eval(Frame frame) {
            return filter.filter(frame, value.eval(frame));
        }
    }

    /// `value is test`.
    record Tested(Expression value, Use test) implements Expression {
        @Override
        public Object eval(Frame frame) {
            frame.budget.step(1);
            return Tests.holds(frame.budget, test.name, value.eval(frame), test.inputs.eval(frame));
        }
    }

    /// A filter or test with its arguments.
    record Use(String name, Inputs inputs) {
        Object filter(Frame frame, Object value) {
            frame.budget.step(1);
            return Filters.apply(frame.budget, name, value, inputs.eval(frame));
        }
    }

    /// What a call is given: by position, by name, and after `*` and `**`, which may be null.
    record Inputs(
            List<Expression> positional,
            List<String> names,
            List<Expression> named,
            Expression spread,
            Expression spreadNamed) {
        /// Nothing.
        static final Inputs NONE = new Inputs(List.of(), List.of(), List.of(), null, null);

        Arguments eval(Frame frame) {
            if (this == NONE) {
                return Arguments.NONE;
            }
            List<Object> values = evalAll(positional, frame);
            Map<String, Object> byName = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                byName.put(names.get(i), named.get(i).eval(frame));
            }
            if (spread != null) {
                values.addAll(Values.iterate(frame.budget, spread.eval(frame)));
            }
            if (spreadNamed != null) {
                if (!(spreadNamed.eval(frame) instanceof Map<?, ?> map)) {
                    throw new TemplateFailure("an argument after ** must be a mapping");
                }
                map.forEach((k, v) -> byName.put(Text.str(frame.budget, k), v));
            }
            return new Arguments(values, byName);
        }
    }
}
