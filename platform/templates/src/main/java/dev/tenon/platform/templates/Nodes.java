package dev.tenon.platform.templates;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Expressions as functions of the rendering, with Python's meaning. Each counts one step of the budget
/// where it can
/// repeat.
final class Nodes {
    /// No arguments.
    static final Arguments NO_ARGUMENTS = new Arguments();

    private Nodes() {}

    /// Expressions given to a call.
    static final class Arguments {
        private final List<Part> parts = new ArrayList<>();

        private enum Kind {
            POSITIONAL,
            NAMED,
            SPREAD,
            SPREAD_NAMED
        }

        private record Part(Kind kind, String name, Eval value) {}

        void positional(Eval value) {
            parts.add(new Part(Kind.POSITIONAL, null, value));
        }

        void named(String name, Eval value) {
            parts.add(new Part(Kind.NAMED, name, value));
        }

        void spread(Eval value) {
            parts.add(new Part(Kind.SPREAD, null, value));
        }

        void spreadNamed(Eval value) {
            parts.add(new Part(Kind.SPREAD_NAMED, null, value));
        }

        Callable.Args eval(Frame frame) {
            if (parts.isEmpty()) {
                return Callable.Args.EMPTY;
            }
            List<Object> positional = new ArrayList<>(parts.size());
            Map<String, Object> named = new LinkedHashMap<>();
            for (Part part : parts) {
                Object value = part.value.eval(frame);
                switch (part.kind) {
                    case POSITIONAL -> positional.add(value);
                    case NAMED -> named.put(part.name, value);
                    case SPREAD -> positional.addAll(PyOps.iterate(frame, value));
                    case SPREAD_NAMED -> {
                        if (!(value instanceof Map<?, ?> map)) {
                            throw new TemplateFailure("an argument after ** must be a mapping");
                        }
                        map.forEach((k, v) -> named.put(PyText.str(frame, k), v));
                    }
                }
            }
            return new Callable.Args(positional, named);
        }
    }

    static Arguments oneArgument(Eval value) {
        Arguments arguments = new Arguments();
        arguments.positional(value);
        return arguments;
    }

    static Eval constant(Object value) {
        return frame -> value;
    }

    static Eval name(String name) {
        return switch (name) {
            case "true", "True" -> constant(true);
            case "false", "False" -> constant(false);
            case "none", "None" -> constant(None.NONE);
            default -> {
                Undefined undefined = new Undefined("'" + name + "' is undefined");
                yield frame -> {
                    frame.budget.step(1);
                    Object value = frame.lookUp(name);
                    return value == null ? undefined : value;
                };
            }
        };
    }

    static Eval list(List<Eval> items, boolean tuple) {
        List<Eval> parts = List.copyOf(items);
        return frame -> {
            frame.budget.step(parts.size() + 1L);
            List<Object> values = new ArrayList<>(parts.size());
            for (Eval part : parts) {
                values.add(part.eval(frame));
            }
            return tuple ? new PyTuple(values) : values;
        };
    }

    static Eval dict(List<Eval> keysAndValues) {
        List<Eval> parts = List.copyOf(keysAndValues);
        return frame -> {
            frame.budget.step(parts.size() + 1L);
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = 0; i < parts.size(); i += 2) {
                map.put(PyOps.key(parts.get(i).eval(frame)), parts.get(i + 1).eval(frame));
            }
            return map;
        };
    }

    static Eval choice(Eval condition, Eval yes, Eval no) {
        return frame -> PyOps.truth(condition.eval(frame)) ? yes.eval(frame) : no.eval(frame);
    }

    static Eval or(Eval left, Eval right) {
        return frame -> {
            Object value = left.eval(frame);
            return PyOps.truth(value) ? value : right.eval(frame);
        };
    }

    static Eval and(Eval left, Eval right) {
        return frame -> {
            Object value = left.eval(frame);
            return PyOps.truth(value) ? right.eval(frame) : value;
        };
    }

    static Eval truth(Eval value, boolean expected) {
        return frame -> PyOps.truth(value.eval(frame)) == expected;
    }

    static Eval compare(Eval first, List<String> operators, List<Eval> operands) {
        List<String> ops = List.copyOf(operators);
        List<Eval> rest = List.copyOf(operands);
        return frame -> {
            Object left = first.eval(frame);
            for (int i = 0; i < ops.size(); i++) {
                Object right = rest.get(i).eval(frame);
                if (!PyOps.compare(frame, ops.get(i), left, right)) {
                    return false;
                }
                left = right;
            }
            return true;
        };
    }

    static Eval binary(String operator, Eval left, Eval right) {
        return frame -> {
            frame.budget.step(1);
            return PyOps.binary(frame, operator, left.eval(frame), right.eval(frame));
        };
    }

    static Eval negate(Eval value) {
        return frame -> PyOps.negate(value.eval(frame));
    }

    static Eval concat(List<Eval> parts) {
        List<Eval> all = List.copyOf(parts);
        return frame -> {
            StringBuilder text = new StringBuilder();
            for (Eval part : all) {
                text.append(PyText.str(frame, part.eval(frame)));
                if (text.length() > Budget.MAX_LENGTH) {
                    break;
                }
            }
            frame.budget.string(text.length());
            return text.toString();
        };
    }

    static Eval item(Eval base, Eval key) {
        return frame -> PyOps.item(frame, base.eval(frame), key.eval(frame));
    }

    static Eval attribute(Eval base, String name) {
        return frame -> PyOps.attribute(frame, base.eval(frame), name);
    }

    static Eval slice(Eval base, Eval[] bounds) {
        return frame -> {
            Object value = base.eval(frame);
            Object[] numbers = new Object[3];
            for (int i = 0; i < 3; i++) {
                numbers[i] = bounds[i] == null ? None.NONE : bounds[i].eval(frame);
            }
            return PyOps.slice(frame, value, numbers[0], numbers[1], numbers[2]);
        };
    }

    static Eval call(Eval target, Arguments arguments) {
        return frame -> {
            frame.budget.step(1);
            return PyOps.call(frame, target.eval(frame), arguments.eval(frame));
        };
    }

    static Eval filter(Callable filter, Eval value, Arguments arguments) {
        return frame -> {
            frame.budget.step(1);
            return filter.call(frame, withFirst(value.eval(frame), arguments.eval(frame)));
        };
    }

    static Eval test(Callable test, Eval value, Arguments arguments, boolean negated) {
        return frame -> {
            frame.budget.step(1);
            Object result = test.call(frame, withFirst(value.eval(frame), arguments.eval(frame)));
            return PyOps.truth(result) != negated;
        };
    }

    /// {@return arguments with a value before them}
    ///
    /// @param first the value
    /// @param args the others
    static Callable.Args withFirst(Object first, Callable.Args args) {
        List<Object> all = new ArrayList<>(args.positional().size() + 1);
        all.add(first);
        all.addAll(args.positional());
        return new Callable.Args(all, args.named());
    }
}
