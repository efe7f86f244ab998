package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;

/// Python's `format % values` and `format.format(...)`, with widths, precisions and whole and fixed-point numbers.
final class Format {
    private static final int MAX_DIGITS = 4;

    private final String in;
    private int at;
    private char align;
    private char sign;
    private boolean zero;
    private int width;
    private int precision;

    private Format(String in, int at) {
        this.in = in;
        this.at = at;
    }

    /// {@return `format % argument`; a tuple holds several arguments, a dictionary named ones}
    static String percent(Budget budget, String format, Object argument) {
        List<?> arguments = argument instanceof Tuple t ? t : List.of(argument);
        StringBuilder out = new StringBuilder();
        int next = 0;
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                out.append(c);
                continue;
            }
            Object value = null;
            int close = format.startsWith("(", i + 1) ? format.indexOf(')', i) : -1;
            if (close >= 0 && argument instanceof Map<?, ?> named) {
                value = Access.item(budget, named, format.substring(i + 2, close));
                Values.used(value);
                i = close;
            }
            Format spec = new Format(format, i + 1);
            spec.readPercent();
            i = spec.at;
            char type = spec.peek();
            if (value == null && type != '%') {
                if (next == arguments.size()) {
                    throw new TemplateFailure("not enough arguments for format string");
                }
                value = arguments.get(next++);
            }
            out.append(type == '%' ? "%" : spec.apply(budget, type, value, '>'));
            Budget.check(out);
        }
        if (next < arguments.size() && !(argument instanceof Map)) {
            throw new TemplateFailure("not all arguments converted during string formatting");
        }
        return budget.made(out.toString());
    }

    private char peek() {
        return at < in.length() ? in.charAt(at) : 0;
    }

    private int number(int otherwise) {
        int start = at;
        int value = 0;
        for (; peek() >= '0' && peek() <= '9'; at++) {
            value = value * 10 + peek() - '0';
            if (at - start == MAX_DIGITS) {
                throw new TemplateFailure("a format's width has more than " + MAX_DIGITS + " digits");
            }
        }
        return at == start ? otherwise : value;
    }

    private void readPercent() {
        for (; at < in.length() && "-+ 0#".indexOf(peek()) >= 0; at++) {
            align = peek() == '-' ? '<' : align;
            zero |= peek() == '0';
            sign = peek() == '+' || peek() == ' ' ? peek() : sign;
        }
        readWidth();
        if (at == in.length()) {
            throw new TemplateFailure("incomplete format '" + in + "'");
        }
    }

    private void readWidth() {
        width = number(0);
        precision = -1;
        if (peek() == '.') {
            at++;
            precision = number(0);
        }
    }

    /// {@return the format with its `{...}` fields filled in}
    static String fields(Budget budget, String format, Arguments args) {
        StringBuilder out = new StringBuilder();
        int next = 0;
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '{' && c != '}') {
                out.append(c);
                continue;
            }
            if (format.startsWith(c == '{' ? "{" : "}", i + 1)) {
                out.append(c);
                i++;
                continue;
            }
            int end = c == '{' ? format.indexOf('}', i) : -1;
            if (end < 0) {
                throw new TemplateFailure("Single '" + c + "' encountered in format string");
            }
            String field = format.substring(i + 1, end);
            String[] parts = field.split(":", 2);
            String[] path = parts[0].split("\\.");
            Object value = path[0].isEmpty()
                    ? args.get(next++, "")
                    : path[0].matches("[0-9]{1,4}")
                            ? args.get(Integer.parseInt(path[0]), "")
                            : args.named().get(path[0]);
            if (value == null) {
                throw new TemplateFailure("the format field '{" + field + "}' is not supported or has no argument");
            }
            for (int p = 1; p < path.length; p++) {
                value = Access.attribute(budget, value, path[p]);
            }
            out.append(parts.length == 1 ? Text.str(budget, value) : spec(budget, parts[1], value));
            Budget.check(out);
            i = end;
        }
        return budget.made(out.toString());
    }

    /// Fills in a field with `[align][sign][0][width][.precision][type]`.
    private static String spec(Budget budget, String text, Object value) {
        Format spec = new Format(text, 0);
        if ("<>^".indexOf(spec.peek()) >= 0) {
            spec.align = text.charAt(spec.at++);
        }
        if ("+- ".indexOf(spec.peek()) >= 0) {
            spec.sign = text.charAt(spec.at++);
        }
        spec.zero = spec.peek() == '0';
        spec.readWidth();
        boolean number = Numbers.is(value);
        char type = spec.peek() != 0 ? spec.peek() : number ? (Numbers.isInteger(value) ? 'd' : 'f') : 's';
        if (text.length() > spec.at + 1) {
            throw new TemplateFailure("the format '" + text + "' is not supported");
        }
        return spec.apply(budget, type, value, number ? '>' : '<');
    }

    private String apply(Budget budget, char type, Object value, char usual) {
        boolean text = type == 's' || type == 'r';
        if (!text && !Numbers.is(value)) {
            throw new TemplateFailure("%" + type + " format: a number is required, not " + Values.type(value));
        }
        String body;
        if (text) {
            String all = type == 's' ? Text.str(budget, value) : Text.repr(budget, value);
            body = precision < 0 ? all : Text.slice(all, 0, Math.min(precision, Text.length(all)));
        } else if (type == 'f' || type == 'F') {
            double d = Numbers.toDouble(value);
            body = Double.isNaN(d) || Double.isInfinite(d)
                    ? Text.floating(d)
                    : new BigDecimal(d)
                            .setScale(precision < 0 ? 6 : precision, RoundingMode.HALF_EVEN)
                            .toPlainString();
        } else {
            body = Long.toString(value instanceof Double d ? (long) (double) d : Numbers.toLong(value), radix(type));
        }
        String head = text ? "" : body.startsWith("-") ? "-" : sign == '+' || sign == ' ' ? String.valueOf(sign) : "";
        String tail = !text && body.startsWith("-") ? body.substring(1) : body;
        int missing = Math.max(0, width - Text.length(head) - Text.length(tail));
        return switch (align == 0 ? (zero && !text ? '=' : usual) : align) {
            case '<' -> head + tail + " ".repeat(missing);
            case '^' -> " ".repeat(missing / 2) + head + tail + " ".repeat(missing - missing / 2);
            case '=' -> head + "0".repeat(missing) + tail;
            default -> " ".repeat(missing) + head + tail;
        };
    }

    private static int radix(char type) {
        return switch (type) {
            case 'd', 'i', 'u' -> 10;
            case 'x' -> 16;
            case 'o' -> 8;
            default -> throw new TemplateFailure("unsupported format character '" + type + "'");
        };
    }
}
