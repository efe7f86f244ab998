package dev.tenon.platform.templates;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Functions that every chat template may call.
final class Globals {
    private static final Map<String, Callable> FUNCTIONS = Map.of(
            "range", Globals::range,
            "namespace", Globals::namespace,
            "dict", Globals::dict,
            "raise_exception", Globals::raise,
            "strftime_now", (f, a) -> strftime(f, PyText.str(f, a.need(0, "format"))));

    private Globals() {}

    /// {@return a function, or null}
    ///
    /// @param name its name
    static Callable get(String name) {
        return FUNCTIONS.get(name);
    }

    private static Object range(Frame frame, Callable.Args args) {
        long first = PyOps.integerArgument(args.need(0, "stop"), "stop");
        boolean one = args.positional().size() < 2;
        long start = one ? 0 : first;
        long stop = one ? first : PyOps.integerArgument(args.need(1, "stop"), "stop");
        long step = PyOps.integerArgument(args.get(2, "step", 1L), "step");
        if (step == 0) {
            throw new TemplateFailure("range() arg 3 must not be zero");
        }
        long n = Math.max(0, step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step);
        if (n > Budget.MAX_RANGE) {
            throw new TemplateFailure("Range too big. The maximum size for a range is " + Budget.MAX_RANGE);
        }
        frame.budget.step(n);
        List<Object> values = new ArrayList<>((int) n);
        for (long i = 0; i < n; i++) {
            values.add(start + i * step);
        }
        return values;
    }

    private static Object namespace(Frame frame, Callable.Args args) {
        return new Namespace(merged(args));
    }

    private static Object dict(Frame frame, Callable.Args args) {
        return merged(args);
    }

    private static Map<Object, Object> merged(Callable.Args args) {
        Map<Object, Object> all = new LinkedHashMap<>();
        for (Object arg : args.positional()) {
            switch (arg) {
                case Map<?, ?> m -> all.putAll(m);
                case Namespace n -> all.putAll(n.attributes());
                case List<?> pairs -> {
                    for (Object pair : pairs) {
                        if (!(pair instanceof List<?> two) || two.size() != 2) {
                            throw new TemplateFailure("dict() needs pairs");
                        }
                        all.put(PyOps.key(two.get(0)), two.get(1));
                    }
                }
                default -> throw new TemplateFailure("'" + PyOps.type(arg) + "' object is not a mapping");
            }
        }
        all.putAll(args.named());
        return all;
    }

    private static Object raise(Frame frame, Callable.Args args) {
        throw new TemplateFailure(PyText.str(frame, args.need(0, "message")));
    }

    /// Formats the time as C's `strftime` in the C locale.
    private static String strftime(Frame frame, String format) {
        ZonedDateTime now = ZonedDateTime.now(frame.clock);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 == format.length()) {
                out.append(c);
                continue;
            }
            char kind = format.charAt(++i);
            boolean plain = kind == '-' && i + 1 < format.length();
            String text = field(now, plain ? format.charAt(++i) : kind);
            out.append(plain && text.startsWith("0") && text.length() > 1 ? text.replaceFirst("^0+(?=.)", "") : text);
        }
        frame.budget.string(out.length());
        return out.toString();
    }

    private static String field(ZonedDateTime t, char kind) {
        return switch (kind) {
            case 'Y' -> String.valueOf(t.getYear());
            case 'm' -> pattern(t, "MM");
            case 'd' -> pattern(t, "dd");
            case 'e' -> "%2d".formatted(t.getDayOfMonth());
            case 'H' -> pattern(t, "HH");
            case 'I' -> pattern(t, "hh");
            case 'M' -> pattern(t, "mm");
            case 'S' -> pattern(t, "ss");
            case 'f' -> pattern(t, "SSSSSS");
            case 'y' -> pattern(t, "yy");
            case 'b', 'h' -> pattern(t, "MMM");
            case 'B' -> pattern(t, "MMMM");
            case 'a' -> pattern(t, "EEE");
            case 'A' -> pattern(t, "EEEE");
            case 'p' -> t.getHour() < 12 ? "AM" : "PM";
            case 'j' -> "%03d".formatted(t.getDayOfYear());
            case 'u' -> String.valueOf(t.get(ChronoField.DAY_OF_WEEK));
            case 'w' -> String.valueOf(t.get(ChronoField.DAY_OF_WEEK) % 7);
            case 'z' -> pattern(t, "xx");
            case 'Z' -> pattern(t, "zzz");
            case 'F' -> pattern(t, "yyyy-MM-dd");
            case 'T' -> pattern(t, "HH:mm:ss");
            case 'R' -> pattern(t, "HH:mm");
            case 'D', 'x' -> pattern(t, "MM/dd/yy");
            case 'X' -> pattern(t, "HH:mm:ss");
            case 'c' -> pattern(t, "EEE MMM ") + field(t, 'e') + pattern(t, " HH:mm:ss yyyy");
            case 's' -> String.valueOf(t.toEpochSecond());
            case 'n' -> "\n";
            case 't' -> "\t";
            case '%' -> "%";
            default -> throw new TemplateFailure("strftime_now does not know '%" + kind + "'");
        };
    }

    private static String pattern(ZonedDateTime t, String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(t);
    }
}
