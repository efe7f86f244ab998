package dev.tenon.platform.templates.values;

import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A function that every chat template may call.
///
/// @param name its name
/// @param clock the time that `strftime_now` sees
public record Function(String name, Clock clock) implements Callable {
    private static final Set<String> NAMES = Set.of("range", "namespace", "dict", "raise_exception", "strftime_now");

    /// {@return a function, or null}
    ///
    /// @param name its name
    /// @param clock the time that it sees
    public static Callable of(String name, Clock clock) {
        return NAMES.contains(name) ? new Function(name, clock) : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        return switch (name) {
            case "range" -> range(budget, args);
            case "namespace" -> new Namespace(merged(budget, args));
            case "dict" -> merged(budget, args);
            case "strftime_now" -> Strftime.format(budget, args.text(0, "format"), clock);
            default -> throw new TemplateFailure(Text.str(budget, args.need(0, "message")));
        };
    }

    private static Object range(Budget budget, Arguments args) {
        args.need(0, "stop");
        boolean one = args.positional().size() < 2;
        long start = one ? 0 : args.integer(0, "start", 0);
        long stop = args.integer(one ? 0 : 1, "stop", 0);
        long step = args.integer(2, "step", 1);
        if (step == 0) {
            throw new TemplateFailure("range() arg 3 must not be zero");
        }
        long n = Math.max(0, step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step);
        if (n > Budget.MAX_RANGE) {
            throw new TemplateFailure("Range too big. The sandbox blocks ranges larger than MAX_RANGE ("
                    + Budget.MAX_RANGE + ").");
        }
        budget.step(n);
        List<Object> values = new ArrayList<>((int) n);
        for (long i = 0; i < n; i++) {
            values.add(start + i * step);
        }
        return values;
    }

    private static Map<Object, Object> merged(Budget budget, Arguments args) {
        Map<Object, Object> all = new LinkedHashMap<>();
        for (Object arg : args.positional()) {
            if (arg instanceof Map<?, ?> map) {
                budget.step(map.size());
                all.putAll(map);
                continue;
            }
            for (Object pair : Values.iterate(budget, arg)) {
                if (!(pair instanceof List<?> two) || two.size() != 2) {
                    throw new TemplateFailure("dict() needs pairs");
                }
                all.put(Values.key(two.get(0)), two.get(1));
            }
        }
        all.putAll(args.named());
        return all;
    }
}
