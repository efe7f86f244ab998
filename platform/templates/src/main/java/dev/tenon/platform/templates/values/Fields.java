package dev.tenon.platform.templates.values;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Python's `format.format(...)`: fields such as `{}`, `{0}`, `{name.attribute[key]!r:>5}`.
final class Fields {
    private static final Pattern PART = Pattern.compile("\\.([^.\\[]+)|\\[([^]]+)]");
    private static final int MAX_NESTING = 2;

    private final Budget budget;
    private final Arguments args;
    private int next;
    private boolean counted;
    private boolean numbered;

    private Fields(Budget budget, Arguments args) {
        this.budget = budget;
        this.args = args;
    }

    /// {@return the format with its fields filled in}
    static Text format(Budget budget, Text format, Arguments args) {
        return new Fields(budget, args).fill(format, 0);
    }

    private Text fill(Text format, int depth) {
        if (depth == MAX_NESTING) {
            throw new TemplateFailure("Max string recursion exceeded");
        }
        String s = format.toString();
        TextBuilder out = new TextBuilder();
        int at = 0;
        while (at < s.length()) {
            char c = s.charAt(at);
            if (c != '{' && c != '}') {
                int end = at;
                while (end < s.length() && s.charAt(end) != '{' && s.charAt(end) != '}') {
                    end++;
                }
                out.append(format, at, end);
                at = end;
            } else if (at + 1 < s.length() && s.charAt(at + 1) == c) {
                out.append(format, at, at + 1);
                at += 2;
            } else if (c == '}') {
                throw new TemplateFailure("Single '}' encountered in format string");
            } else {
                int end = end(s, at);
                out.append(field(format.substring(at + 1, end), depth));
                at = end + 1;
            }
        }
        return Splits.made(budget, out);
    }

    /// {@return where the bracket that closes a field stands}
    private static int end(String s, int open) {
        int depth = 0;
        for (int i = open; i < s.length(); i++) {
            depth += s.charAt(i) == '{' ? 1 : s.charAt(i) == '}' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new TemplateFailure(
                open + 1 == s.length()
                        ? "Single '{' encountered in format string"
                        : "expected '}' before end of string");
    }

    private Text field(Text field, int depth) {
        String s = field.toString();
        int nameEnd = 0;
        boolean inKey = false;
        while (nameEnd < s.length() && (inKey || s.charAt(nameEnd) != '!' && s.charAt(nameEnd) != ':')) {
            inKey = s.charAt(nameEnd) == '[' || inKey && s.charAt(nameEnd) != ']';
            nameEnd++;
        }
        Object value = value(s.substring(0, nameEnd));
        int at = nameEnd;
        if (at < s.length() && s.charAt(at) == '!') {
            value = converted(value, s.substring(at + 1, Math.min(s.length(), at + 2)));
            at += 2;
        }
        if (at < s.length() && s.charAt(at) != ':') {
            throw new TemplateFailure("expected ':' after conversion specifier");
        }
        Text spec = at < s.length() ? fill(field.substring(at + 1), depth + 1) : Text.EMPTY;
        Text formatted = FormatSpec.format(budget, value, spec.toString());
        return spec.hasClient() ? Text.madeOf(formatted.toString(), spec) : formatted;
    }

    private Object converted(Object value, String conversion) {
        return switch (conversion) {
            case "s" -> Text.str(budget, value);
            case "r" -> Printer.repr(budget, value);
            default -> throw new TemplateFailure("Unknown conversion specifier " + conversion);
        };
    }

    private Object value(String path) {
        Matcher m = PART.matcher(path);
        int end = m.find() ? m.start() : path.length();
        String name = path.substring(0, end);
        Object value =
                name.matches("[0-9]{0,4}") ? numbered(name) : args.named().get(name);
        if (value == null) {
            throw new TemplateFailure("the format asks for '" + name + "', which is not given");
        }
        while (end < path.length()) {
            if (!m.find(end) || m.start() != end) {
                throw new TemplateFailure("the format's field '" + path + "' is broken");
            }
            String key = m.group(2);
            value = key == null
                    ? Access.attribute(budget, value, m.group(1))
                    : Access.item(budget, value, key.matches("[0-9]{1,9}") ? Long.valueOf(key) : (Object) Text.of(key));
            end = m.end();
        }
        return value;
    }

    private Object numbered(String name) {
        counted |= name.isEmpty();
        numbered |= !name.isEmpty();
        if (counted && numbered) {
            throw new TemplateFailure("cannot switch between automatic field numbering and numbers in a format");
        }
        int index = name.isEmpty() ? next++ : Integer.parseInt(name);
        return index < args.positional().size() ? args.positional().get(index) : null;
    }
}
