package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Python's `format % values` and `format.format(...)`.
final class Format {
    private static final Pattern PERCENT =
            Pattern.compile("%(?:\\(([^)]*)\\))?([-+ 0#]*\\d{0,4})(?:\\.(\\d{0,4}))?([a-zA-Z%])?");
    private static final Pattern FIELD = Pattern.compile("\\{\\{|}}|\\{([^{}]*)}|[{}]");

    private Format() {}

    static String percent(Budget budget, String format, Object argument) {
        List<Object> arguments = new ArrayList<>(argument instanceof Tuple t ? t : List.of(argument));
        StringBuilder out = new StringBuilder();
        Matcher m = PERCENT.matcher(format);
        int end = 0;
        for (; m.find(); end = m.end()) {
            out.append(format, end, m.start());
            String type = m.group(4);
            if ("%".equals(type)) {
                out.append('%');
                continue;
            }
            if (type == null || (m.group(1) == null && arguments.isEmpty())) {
                throw new TemplateFailure(
                        type == null ? "incomplete format" : "not enough arguments for format string");
            }
            Object value = m.group(1) == null ? arguments.removeFirst() : Access.item(budget, argument, m.group(1));
            Budget.check(out.append(formatted(budget, m.group(2), m.group(3), type, value)));
        }
        if (!arguments.isEmpty() && !(argument instanceof Map)) {
            throw new TemplateFailure("not all arguments converted during string formatting");
        }
        return budget.made(out.append(format, end, format.length()).toString());
    }

    private static String formatted(Budget budget, String flags, String precision, String type, Object value) {
        if (!type.equals("s") && !type.equals("r") && !Values.isNumber(value)) {
            throw new TemplateFailure("%" + type + " format: a number is required, not " + Values.type(value));
        }
        String point = precision == null || "diuxX".contains(type) ? "" : precision.isEmpty() ? ".0" : "." + precision;
        try {
            return switch (type) {
                case "s" -> String.format("%" + flags + point + "s", Text.str(budget, value));
                case "r" -> String.format("%" + flags + point + "s", Printer.repr(budget, value));
                case "f", "F" -> {
                    int digits = point.isEmpty() ? 6 : Integer.parseInt(point.substring(1));
                    BigDecimal exact = new BigDecimal(Values.toDouble(value)).setScale(digits, RoundingMode.HALF_EVEN);
                    yield String.format(Locale.ROOT, "%" + flags + "." + digits + "f", exact);
                }
                case "d", "i", "u", "x" -> {
                    long whole = value instanceof Double d ? (long) (double) d : Values.toLong(value);
                    yield String.format(Locale.ROOT, "%" + flags + (type.equals("x") ? "x" : "d"), whole);
                }
                default -> throw new TemplateFailure("unsupported format character '" + type + "'");
            };
        } catch (IllegalFormatException | NumberFormatException e) {
            throw new TemplateFailure("unsupported format '%" + flags + point + type + "'");
        }
    }

    /// {@return the format with its fields filled in: `{}`, `{0}` and `{name}`, with `.attribute`}
    static String fields(Budget budget, String format, Arguments args) {
        StringBuilder out = new StringBuilder();
        Matcher m = FIELD.matcher(format);
        int end = 0;
        int next = 0;
        for (; m.find(); end = m.end()) {
            out.append(format, end, m.start());
            if (m.group(1) == null) {
                if (m.group().length() == 1) {
                    throw new TemplateFailure("Single '" + m.group() + "' encountered in format string");
                }
                out.append(m.group(), 0, 1);
                continue;
            }
            String[] path = m.group(1).split("\\.");
            boolean named = !path[0].matches("[0-9]{0,4}");
            int index = named ? Integer.MAX_VALUE : path[0].isEmpty() ? next++ : Integer.parseInt(path[0]);
            Object value = args.need(index, path[0]);
            for (int p = 1; p < path.length; p++) {
                value = Access.attribute(budget, value, path[p]);
            }
            Budget.check(out.append(Text.str(budget, value)));
        }
        return budget.made(out.append(format, end, format.length()).toString());
    }
}
