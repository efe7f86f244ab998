package dev.tenon.platform.grammar.json;

import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads one JSON value: objects as maps in their order, arrays as lists, numbers as `BigDecimal`,
/// also `String`, `Boolean` and null.
public final class JsonReader {
    private static final int MOST_DIGITS = 1000;

    private final String source;
    private final GrammarLimits limits;
    private int at;
    private int depth;

    private JsonReader(String source, GrammarLimits limits) {
        this.source = source;
        this.limits = limits;
    }

    /// {@return the value}
    ///
    /// @param source a JSON text
    /// @param limits how long it may be, and how deep
    /// @throws GrammarException (`GRAMMAR-001`) if it is no JSON, (`GRAMMAR-003`) if it exceeds a
    ///     limit
    public static Object read(String source, GrammarLimits limits) {
        limits.checkLength("JSON text", source);
        JsonReader reader = new JsonReader(source, limits);
        Object value = reader.value();
        reader.space();
        if (reader.at < source.length()) {
            throw reader.syntax("more text after the value");
        }
        return value;
    }

    private Object value() {
        space();
        char c = at < source.length() ? source.charAt(at) : 0;
        return switch (c) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object word(String word, Object value) {
        if (!source.startsWith(word, at)) {
            throw syntax("expected a value");
        }
        at += word.length();
        return value;
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        open();
        while (more('}', object.isEmpty())) {
            space();
            int from = at;
            String key = string();
            space();
            require(':');
            if (object.containsKey(key)) {
                at = from;
                throw syntax("key '" + key + "' appears twice");
            }
            object.put(key, value());
        }
        depth--;
        return object;
    }

    private List<Object> array() {
        List<Object> array = new ArrayList<>();
        open();
        while (more(']', array.isEmpty())) {
            array.add(value());
        }
        depth--;
        return array;
    }

    private void open() {
        limits.checkNesting("JSON text", ++depth);
        at++;
    }

    /// Passes over the comma or the end.
    ///
    /// @return whether an element follows
    private boolean more(char end, boolean first) {
        space();
        if (take(end)) {
            return false;
        }
        if (!first) {
            require(',');
        }
        return true;
    }

    private String string() {
        require('"');
        StringBuilder text = new StringBuilder();
        while (true) {
            char c = at < source.length() ? source.charAt(at++) : 0;
            if (c == '"') {
                return text.toString();
            }
            if (c < ' ') {
                throw syntax("a string without its end, or with a control character");
            }
            text.append(c == '\\' ? escape() : c);
        }
    }

    private char escape() {
        char c = at < source.length() ? source.charAt(at++) : 0;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw syntax("an unknown escape");
        };
    }

    private char unicode() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = at < source.length() ? Character.digit(source.charAt(at++), 16) : -1;
            if (digit < 0) {
                throw syntax("'\\u' needs four hexadecimal digits");
            }
            value = 16 * value + digit;
        }
        return (char) value;
    }

    private BigDecimal number() {
        int from = at;
        take('-');
        if (!take('0')) {
            digits();
        }
        if (take('.')) {
            digits();
        }
        int exponent = 0;
        if (take('e') || take('E')) {
            boolean negative = take('-');
            if (!negative) {
                take('+');
            }
            int start = at;
            digits();
            exponent = at - start > 4 ? MOST_DIGITS + 1 : Integer.parseInt(source, start, at, 10);
        }
        if (at - from > MOST_DIGITS || exponent > MOST_DIGITS) {
            throw GrammarException.limit("A number of the JSON text has more than " + MOST_DIGITS + " digits.");
        }
        return new BigDecimal(source.substring(from, at));
    }

    private void digits() {
        int from = at;
        while (at < source.length() && source.charAt(at) >= '0' && source.charAt(at) <= '9') {
            at++;
        }
        if (at == from) {
            throw syntax("expected a value");
        }
    }

    private void space() {
        while (at < source.length() && " \t\r\n".indexOf(source.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean take(char c) {
        boolean there = at < source.length() && source.charAt(at) == c;
        at += there ? 1 : 0;
        return there;
    }

    private void require(char c) {
        if (!take(c)) {
            throw syntax("expected '" + c + "'");
        }
    }

    private GrammarException syntax(String what) {
        return GrammarException.syntax("The JSON text is wrong at character " + at + ": " + what + ".");
    }
}
