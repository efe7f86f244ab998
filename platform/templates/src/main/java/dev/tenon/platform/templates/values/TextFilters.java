package dev.tenon.platform.templates.values;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// The filters that make a text of a text.
final class TextFilters {
    private static final int LEEWAY = 5;
    private static final Set<Character> NO_KEY = Set.of(' ', '\t', '\n', '\f', '\r', '\u000b', '/', '>', '=');
    private static final Map<Character, String> ENTITIES =
            Map.of('&', "&amp;", '<', "&lt;", '>', "&gt;", '\'', "&#39;", '"', "&#34;");
    private static final Pattern WORD = Pattern.compile("\\w+", Pattern.UNICODE_CHARACTER_CLASS);

    private TextFilters() {}

    static Object apply(Budget budget, String name, Object value, Arguments args) {
        if (name.equals("urlencode")) {
            return urlEncoded(budget, value);
        }
        if (name.equals("xmlattr")) {
            return attributes(budget, value, args);
        }
        Text text = Text.str(budget, value);
        budget.string(text.toString().length());
        return switch (name) {
            case "capitalize" -> Strings.capitalize(text);
            case "center" -> Strings.pad(budget, text, args.integer(0, "width", 80), Text.of(" "), name);
            case "e", "escape", "forceescape" -> escaped(budget, text);
            case "format" -> format(budget, text, args);
            case "indent" -> indent(budget, text, args);
            case "lower" -> text.lower();
            case "replace" -> {
                Text by = Text.str(budget, args.need(1, "new"));
                yield Splits.replace(
                        budget, text, Text.str(budget, args.need(0, "old")), by, args.integer(2, "count", -1));
            }
            case "title" -> Strings.title(text, true);
            case "trim" -> Splits.strip(text, args.get(0, "chars", Values.NONE), true, true);
            case "truncate" -> truncate(budget, text, args);
            case "upper" -> text.upper();
            case "wordcount" -> WORD.matcher(text.toString()).results().count();
            case "wordwrap" -> wrapped(budget, text, args);
            default -> throw new TemplateFailure("No filter named '" + name + "'.");
        };
    }

    private static Text format(Budget budget, Text text, Arguments args) {
        if (!args.named().isEmpty() && !args.positional().isEmpty()) {
            throw new TemplateFailure("can't handle positional and keyword arguments at the same time");
        }
        if (args.named().isEmpty()) {
            return Percent.format(budget, text, new Tuple(args.positional()));
        }
        return Percent.format(budget, text, Values.mapping(args.named()));
    }

    private static Text escaped(Budget budget, Text text) {
        String s = text.toString();
        TextBuilder out = new TextBuilder();
        int from = 0;
        for (int i = 0; i < s.length(); i++) {
            String entity = ENTITIES.get(s.charAt(i));
            if (entity != null) {
                out.append(text, from, i).append(entity, text, i);
                from = i + 1;
            }
        }
        return Splits.made(budget, out.append(text, from, s.length()));
    }

    private static Text indent(Budget budget, Text text, Arguments args) {
        Text by = args.get(0, "width", 4L) instanceof Text width
                ? width
                : Text.of(" ".repeat(Math.clamp(args.integer(0, "width", 4), 0, 1000)));
        boolean first = args.flag(1, "first");
        boolean blank = args.flag(2, "blank");
        List<Object> lines = Splits.lines(budget, text.concat(Text.of("\n")), false);
        TextBuilder out = new TextBuilder();
        for (int i = 0; i < lines.size(); i++) {
            Text line = (Text) lines.get(i);
            boolean indented = i == 0 ? first : blank || !line.isEmpty();
            out.append(i == 0 ? "" : "\n").append(indented ? by : Text.EMPTY).append(line);
        }
        return Splits.made(budget, out);
    }

    private static Text truncate(Budget budget, Text text, Arguments args) {
        int length = args.integer(0, "length", 255);
        Text end = Text.str(budget, args.get(2, "end", Text.of("...")));
        int leeway = args.integer(3, "leeway", LEEWAY);
        if (length < end.length() || leeway < 0) {
            throw new TemplateFailure("truncate expected a length of at least " + end.length() + ", got " + length);
        }
        if (text.length() <= (long) length + leeway) {
            return text;
        }
        Text cut = text.slice(0, length - end.length());
        int blank = args.flag(1, "killwords") ? -1 : cut.toString().lastIndexOf(' ');
        return (blank < 0 ? cut : cut.substring(0, blank)).concat(end);
    }

    private static Text wrapped(Budget budget, Text text, Arguments args) {
        int width = args.integer(0, "width", 79);
        if (width <= 0) {
            throw new TemplateFailure("invalid width " + width + " (must be > 0)");
        }
        boolean breaksWords = Values.truth(args.get(1, "break_long_words", true));
        boolean breaksHyphens = Values.truth(args.get(3, "break_on_hyphens", true));
        Object by = args.get(2, "wrapstring", Values.NONE);
        Text separator = by == Values.NONE ? Text.of("\n") : Text.need(by, "wrapstring");
        List<Object> lines = new ArrayList<>();
        for (Object line : Splits.lines(budget, text, false)) {
            lines.add(Splits.join(
                    budget, separator, Wrapping.wrap((Text) line, width, breaksWords, breaksHyphens), true));
        }
        return Splits.join(budget, separator, lines, true);
    }

    private static Text urlEncoded(Budget budget, Object value) {
        if (value instanceof Text || !(value instanceof List || value instanceof Map || value instanceof View)) {
            return quoted(Text.str(budget, value), false);
        }
        List<Object> parts = new ArrayList<>();
        for (Object pair : value instanceof Map ? Values.items(budget, value) : Values.iterate(budget, value)) {
            if (!(pair instanceof List<?> two) || two.size() != 2) {
                throw new TemplateFailure("urlencode needs pairs");
            }
            Text key = quoted(Text.str(budget, two.get(0)), true);
            parts.add(key.concat(Text.of("=")).concat(quoted(Text.str(budget, two.get(1)), true)));
        }
        return Splits.join(budget, Text.of("&"), parts, true);
    }

    private static Text quoted(Text text, boolean query) {
        StringBuilder out = new StringBuilder();
        for (byte b : text.toString().getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain = c < 128 && (Character.isLetterOrDigit(c) || "_.-~".indexOf(c) >= 0 || c == '/' && !query);
            Budget.check(
                    plain
                            ? out.append(c)
                            : c == ' ' && query ? out.append('+') : out.append("%%%02X".formatted((int) c)));
        }
        return Text.madeOf(out.toString(), text);
    }

    private static Text attributes(Budget budget, Object value, Arguments args) {
        Values.used(value);
        TextBuilder out = new TextBuilder();
        boolean space = Values.truth(args.get(0, "autospace", true));
        for (Object pair : Values.items(budget, value)) {
            Text key = Text.str(budget, ((Tuple) pair).get(0));
            Object each = ((Tuple) pair).get(1);
            if (each == Values.NONE || each instanceof Undefined) {
                continue;
            }
            if (key.toString().chars().anyMatch(c -> NO_KEY.contains((char) c))) {
                throw new TemplateFailure("Invalid character in attribute name: " + Printer.repr(budget, key));
            }
            out.append(space || out.length() > 0 ? " " : "").append(escaped(budget, key));
            out.append("=\"").append(escaped(budget, Text.str(budget, each))).append("\"");
        }
        return Splits.made(budget, out);
    }
}
