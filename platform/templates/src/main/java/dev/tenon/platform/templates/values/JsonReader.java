package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads JSON as Python's `json.loads` does; texts keep whose their characters are.
final class JsonReader {
    private static final Pattern NUMBER = Pattern.compile("(-?(?:0|[1-9]\\d*))(\\.\\d+)?([eE][-+]?\\d+)?");

    private final Budget budget;
    private final Text text;
    private final String in;
    private int at;

    private JsonReader(Budget budget, Text text) {
        this.budget = budget;
        this.text = text;
        this.in = text.toString();
    }

    static Object read(Budget budget, Text text) {
        JsonReader reader = new JsonReader(budget, text);
        Object value = reader.value();
        reader.skip();
        if (reader.at < reader.in.length()) {
            throw reader.failure("Extra data");
        }
        return value;
    }

    private TemplateFailure failure(String what) {
        return new TemplateFailure("from_json: " + what + " at character " + at);
    }

    private void skip() {
        while (at < in.length() && " \t\n\r".indexOf(in.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean take(char c) {
        skip();
        boolean found = at < in.length() && in.charAt(at) == c;
        at += found ? 1 : 0;
        return found;
    }

    private void need(char c) {
        if (!take(c)) {
            throw failure("expected '" + c + "'");
        }
    }

    private Object value() {
        budget.step(1);
        budget.enter();
        skip();
        Object value = take('{') ? dict() : take('[') ? list() : take('"') ? string() : scalar();
        budget.leave();
        return value;
    }

    private Map<Object, Object> dict() {
        Map<Object, Object> map = new LinkedHashMap<>();
        if (take('}')) {
            return map;
        }
        do {
            need('"');
            Text key = string();
            need(':');
            map.put(key, value());
        } while (take(','));
        need('}');
        return map;
    }

    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        if (take(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (take(','));
        need(']');
        return list;
    }

    private Text string() {
        TextBuilder out = new TextBuilder();
        int from = at;
        while (at < in.length() && in.charAt(at) != '"') {
            if (in.charAt(at) < ' ') {
                throw failure("Invalid control character");
            }
            if (in.charAt(at) == '\\') {
                out.append(text, from, at);
                int escape = at;
                at++;
                out.append(escape(), text, escape);
                from = at;
            } else {
                at++;
            }
        }
        out.append(text, from, at);
        if (at == in.length()) {
            throw failure("Unterminated string");
        }
        at++;
        return Splits.made(budget, out);
    }

    private String escape() {
        int simple = at < in.length() ? "\"\\/bfnrt".indexOf(in.charAt(at)) : -1;
        if (simple >= 0) {
            at++;
            return "\"\\/\b\f\n\r\t".substring(simple, simple + 1);
        }
        try {
            if (in.startsWith("u", at)) {
                at += 5;
                return Character.toString((char) Integer.parseInt(in, at - 4, at, 16));
            }
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw failure("Invalid \\uXXXX escape");
        }
        throw failure("Invalid \\escape");
    }

    private Object scalar() {
        for (Map.Entry<String, Object> word : WORDS.entrySet()) {
            if (in.startsWith(word.getKey(), at)) {
                at += word.getKey().length();
                return word.getValue();
            }
        }
        Matcher m = NUMBER.matcher(in).region(at, in.length());
        if (!m.lookingAt()) {
            throw failure("Expecting value");
        }
        at = m.end();
        if (m.group(2) != null || m.group(3) != null) {
            return Double.valueOf(m.group());
        }
        try {
            return Long.valueOf(m.group());
        } catch (NumberFormatException e) {
            throw failure("a whole number needs more than 64 bits");
        }
    }

    private static final Map<String, Object> WORDS = Map.of(
            "true", true,
            "false", false,
            "null", Values.NONE,
            "NaN", Double.NaN,
            "Infinity", Double.POSITIVE_INFINITY,
            "-Infinity", Double.NEGATIVE_INFINITY);
}
