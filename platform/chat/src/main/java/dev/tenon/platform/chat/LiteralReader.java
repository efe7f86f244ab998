package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayDeque;
import java.util.Deque;

/// Reads the arguments of a call that are literals of Python or of Gemma, and writes them as JSON while they come:
/// strings character by character, other values when they end. JSON is understood, too.
final class LiteralReader implements CallReader {
    private static final String DELIMITERS = ",:=()[]{}\"'";

    private final Literals literals;
    private final ReplySink sink;
    private final int index;
    private final StringBuilder json = new StringBuilder();
    /// What closes the objects and lists that are open, in JSON; the last one first.
    private final Deque<Character> open = new ArrayDeque<>();
    /// What ends the string that is read; empty outside of strings.
    private String quote = "";
    /// Whether a comma stands before what comes.
    private boolean comma;
    /// Whether the name of a member comes.
    private boolean key = true;

    /// Reads from after what begins the arguments.
    LiteralReader(Literals literals, ReplySink sink, int index, String id, String name) {
        this.literals = literals;
        this.sink = sink;
        this.index = index;
        sink.call(index, id, name);
        open.push('}');
        json.append('{');
    }

    @Override
    public void take(StringBuilder pending, boolean last) {
        int taken = 1;
        while (taken > 0 && !pending.isEmpty() && !ended()) {
            taken = quote.isEmpty() ? outside(pending, last) : inString(pending, last);
            pending.delete(0, taken);
        }
        if (!json.isEmpty()) {
            sink.arguments(index, json.toString());
            json.setLength(0);
        }
    }

    /// {@return how many characters were taken; 0 if more are needed}
    private int outside(StringBuilder pending, boolean last) {
        char c = pending.charAt(0);
        String mark = literals.quote();
        if (!mark.isEmpty() && c == mark.charAt(0)) {
            if (pending.indexOf(mark) == 0) {
                return begin(mark);
            }
            if (!last && mark.startsWith(pending.toString())) {
                return 0;
            }
        }
        if (Character.isWhitespace(c)) {
            return 1;
        }
        switch (c) {
            case '"', '\'' -> {
                return begin(String.valueOf(c));
            }
            case '{' -> nested('{', '}');
            case '[', '(' -> nested('[', ']');
            case '}', ']', ')' -> {
                json.append(open.pop().charValue());
                comma = false;
                key = false;
            }
            case ',' -> {
                comma = true;
                key = open.peek() == '}';
            }
            case ':', '=' -> {
                json.append(": ");
                key = false;
            }
            default -> {
                return word(pending, last);
            }
        }
        return 1;
    }

    private void separate() {
        if (comma) {
            json.append(", ");
            comma = false;
        }
    }

    private void nested(char begin, char end) {
        separate();
        json.append(begin);
        open.push(end);
        key = begin == '{';
    }

    private int begin(String mark) {
        separate();
        json.append('"');
        quote = mark;
        return mark.length();
    }

    /// Takes a name, a number or a constant, once its end is known.
    private int word(StringBuilder pending, boolean last) {
        int end = 1;
        while (end < pending.length()
                && !Character.isWhitespace(pending.charAt(end))
                && DELIMITERS.indexOf(pending.charAt(end)) < 0) {
            end++;
        }
        if (end == pending.length() && !last) {
            return 0;
        }
        separate();
        String word = pending.substring(0, end);
        JsonNode value = key ? null : Json.parse(word);
        json.append(
                switch (key ? "" : word) {
                    case "True" -> "true";
                    case "False" -> "false";
                    case "None" -> "null";
                    default -> value == null ? Json.text(word) : word;
                });
        return end;
    }

    private int inString(StringBuilder pending, boolean last) {
        boolean raw = quote.length() > 1;
        int end = pending.indexOf(quote);
        int escape = raw ? -1 : pending.indexOf("\\");
        if (end == 0) {
            json.append('"');
            int length = quote.length();
            quote = "";
            return length;
        }
        if (escape == 0) {
            return escaped(pending, last);
        }
        int upTo = end > 0 ? end : pending.length() - (last ? 0 : ReplyParser.partOf(quote, pending));
        if (escape > 0) {
            upTo = Math.min(upTo, escape);
        }
        text(pending.substring(0, upTo));
        return upTo;
    }

    private void text(String text) {
        String quoted = Json.text(text);
        json.append(quoted, 1, quoted.length() - 1);
    }

    /// Takes what a backslash begins.
    private int escaped(StringBuilder pending, boolean last) {
        int digits = pending.length() < 2
                ? 0
                : switch (pending.charAt(1)) {
                    case 'x' -> 2;
                    case 'u' -> 4;
                    default -> 0;
                };
        if (pending.length() < 2 + digits) {
            if (last) {
                text(pending.toString());
                return pending.length();
            }
            return 0;
        }
        String code = pending.substring(2, 2 + digits);
        char c = pending.charAt(1);
        if (digits > 0 && code.matches("[0-9a-fA-F]+")) {
            json.append("\\u").append("00".repeat(digits == 2 ? 1 : 0)).append(code);
            return 2 + digits;
        }
        switch (c) {
            case 'n', 't', 'r', 'b', 'f' -> json.append('\\').append(c);
            case '\\', '\'', '"', '/' -> text(String.valueOf(c));
            default -> text("\\" + c);
        }
        return 2;
    }

    @Override
    public boolean ended() {
        return open.isEmpty();
    }

    @Override
    public boolean told() {
        return true;
    }

    @Override
    public String raw() {
        return "";
    }
}
