package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Python's `format % values`.
final class Percent {
    private static final Pattern FIELD = Pattern.compile(
            "%(?:\\(([^)]*)\\))?([-+ 0#]*)(\\*|\\d{1,5})?(?:\\.(\\*|\\d{0,4}))?[hlL]?(.)?", Pattern.DOTALL);

    private Percent() {}

    static Text format(Budget budget, Text format, Object argument) {
        List<Object> arguments = new ArrayList<>(argument instanceof Tuple t ? t : List.of(argument));
        TextBuilder out = new TextBuilder();
        Matcher m = FIELD.matcher(format.toString());
        int end = 0;
        for (; m.find(end); end = m.end()) {
            out.append(format, end, m.start());
            if (m.group(5) == null) {
                throw new TemplateFailure("incomplete format");
            }
            if (m.group(5).equals("%")) {
                out.append(format, m.end() - 1, m.end());
                continue;
            }
            String width = star(m.group(3), arguments);
            String precision = star(m.group(4), arguments);
            Object value = m.group(1) == null ? take(arguments) : keyed(argument, m.group(1));
            Text made = formatted(budget, m.group(2), width, precision, m.group(5), value);
            Text field = format.substring(m.start(), m.end());
            out.append(field.hasClient() ? Text.madeOf(made.toString(), field) : made);
        }
        if (!arguments.isEmpty()
                && !(argument instanceof Map)
                && !(argument instanceof List<?> l && !(l instanceof Tuple))) {
            throw new TemplateFailure("not all arguments converted during string formatting");
        }
        return Splits.made(budget, out.append(format, end, format.toString().length()));
    }

    private static Object keyed(Object argument, String key) {
        if (!(argument instanceof Map<?, ?> map)) {
            throw new TemplateFailure("format requires a mapping");
        }
        Object value = map.get(Text.of(key));
        if (value == null) {
            throw new TemplateFailure("the format asks for '" + key + "', which is not given");
        }
        return value;
    }

    private static Object take(List<Object> arguments) {
        if (arguments.isEmpty()) {
            throw new TemplateFailure("not enough arguments for format string");
        }
        return arguments.removeFirst();
    }

    private static String star(String number, List<Object> arguments) {
        if (!"*".equals(number)) {
            return number;
        }
        if (!(take(arguments) instanceof Long n) || n < 0 || n > 99_999) {
            throw new TemplateFailure("* wants int");
        }
        return n.toString();
    }

    private static Text formatted(
            Budget budget, String flags, String width, String precision, String type, Object value) {
        boolean text = "sra".contains(type);
        if (!text && !"diuoxXeEfFgGc".contains(type)) {
            throw new TemplateFailure("unsupported format character '" + type + "'");
        }
        boolean whole = "diuoxX".contains(type);
        if (!text && !type.equals("c") && !Values.isNumber(value)) {
            throw new TemplateFailure("%" + type + " format: a number is required, not " + Values.type(value));
        }
        Object shown = switch (type) {
            case "s" -> Text.str(budget, value);
            case "r", "a" -> Printer.repr(budget, value);
            case "c" -> value instanceof Text ? value : FormatSpec.format(budget, value, "c");
            default -> whole ? (Object) whole(value) : Values.toDouble(value);
        };
        text |= type.equals("c");
        String align = flags.contains("-") ? "<" : text ? ">" : flags.contains("0") ? "0=" : ">";
        String sign = text ? "" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
        String form = text ? "s" : "iu".contains(type) ? "d" : type;
        String digits =
                precision == null || whole || type.equals("c") ? "" : "." + (precision.isEmpty() ? "0" : precision);
        String hash = flags.contains("#") && !text ? "#" : "";
        return FormatSpec.format(budget, shown, align + sign + hash + (width == null ? "" : width) + digits + form);
    }

    private static long whole(Object value) {
        return value instanceof Double d ? (long) (double) d : Values.toLong(value);
    }
}
