package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.Deque;

/// Reads one value as models write it, and writes it as JSON while it comes: strings character by character, words when
/// they end. It understands JSON with what models get wrong in it (line ends and tabs in strings, single quotes, commas
/// before an end, escapes that there are not), literals of Python and the notation of Gemma. For one thread.
class LiteralReader {
    private static final String DELIMITERS = ",:=()[]{}\"'";
    /// Numbers of JSON, and what other languages write beside them; zeros before others are no number.
    private static final String NUMBER = "[+-]?(?:(?:0|[1-9]\\d*)\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d{1,4})?";
    private static final String KEY = "[A-Za-z0-9_$][\\w.$-]*";
    /// Deepest nesting; what reads the arguments later has limits, too.
    private static final int MOST_DEPTH = 60;

    private static final int HEX = 4;
    /// What stands for a code that is not there yet, and for one that is none.
    private static final int MISSING = -1;

    private static final int WRONG = -2;

    private final Literals notation;
    private final StringBuilder json = new StringBuilder();
    private final Deque<Level> open = new ArrayDeque<>();
    private State state = State.VALUE;
    /// What ends the string that is read.
    private String quote = "";
    /// Whether the string is the name of a member.
    private boolean naming;
    /// Whether a comma stands before what comes.
    private boolean comma;
    /// The outer object's member that is read, and where in the JSON its value begins.
    private String member;

    private int from;

    private enum State {
        VALUE,
        /// A value, or the end of a list.
        ITEM,
        /// The name of a member, or the end of an object.
        KEY,
        COLON,
        /// After a value.
        AFTER,
        STRING,
        ENDED,
        FAILED
    }

    /// An object or list that is open.
    ///
    /// @param end what ends it
    /// @param json what ends it in JSON
    private record Level(char end, char json) {}

    /// Reads any value.
    LiteralReader(Literals notation) {
        this.notation = notation;
    }

    /// {@return a reader of arguments, from after what begins them}
    static LiteralReader inside(Literals notation) {
        LiteralReader reader = new LiteralReader(notation);
        reader.open(notation.end(), '{', '}');
        return reader;
    }

    /// {@return the JSON of a text that is one value; null if it is none}
    static String json(String text) {
        LiteralReader reader = new LiteralReader(Literals.JSON);
        int end = reader.take(text, true);
        return reader.ended() && text.substring(end).isBlank() ? reader.json.toString() : null;
    }

    /// {@return the JSON so far}
    final StringBuilder json() {
        return json;
    }

    /// {@return whether the value is whole}
    final boolean ended() {
        return state == State.ENDED;
    }

    /// {@return whether the text is no value}
    final boolean failed() {
        return state == State.FAILED;
    }

    final void fail() {
        state = State.FAILED;
    }

    /// Hears that the value of a member of the outer object begins.
    void begins(String key) {}

    /// Hears that the value of a member of the outer object has ended, which is the end of the JSON so far.
    ///
    /// @param key the member
    /// @param begin where in the JSON its value begins
    void ends(String key, int begin) {}

    /// Takes text up to the end of the value.
    ///
    /// @param text the text
    /// @param last whether no more comes
    /// @return how many of its characters were taken
    final int take(CharSequence text, boolean last) {
        int at = 0;
        int taken = 1;
        while (taken > 0 && at < text.length() && !ended() && !failed()) {
            taken = state == State.STRING ? inString(text, at, last) : outside(text, at, last);
            at += taken;
        }
        if (last && at == text.length() && !ended()) {
            fail();
        }
        return at;
    }

    /// {@return how many characters were taken; 0 if more are needed}
    private int outside(CharSequence text, int at, boolean last) {
        char c = text.charAt(at);
        if (Character.isWhitespace(c)) {
            return 1;
        }
        if (state == State.COLON) {
            boolean assigns = c == ':' || c == '=' && notation.assigns() && open.size() == 1;
            return assigns ? colon() : failure();
        }
        if (state == State.AFTER) {
            if (c == ',') {
                comma = true;
                state = open.peek().json == '}' ? State.KEY : State.ITEM;
                return 1;
            }
            return close(c);
        }
        if ((state == State.KEY || state == State.ITEM) && c == open.peek().end) {
            return close(c);
        }
        String mark = notation.quote();
        if (!mark.isEmpty() && c == mark.charAt(0)) {
            int part = common(text, at, mark);
            return part == mark.length() ? string(mark) : part == text.length() - at && !last ? 0 : failure();
        }
        if (c == '"' || c == '\'') {
            return quoted(text, at, last);
        }
        if (state == State.KEY) {
            return word(text, at, last);
        }
        return switch (c) {
            case '{' -> open('}', '{', '}');
            case '[' -> open(']', '[', ']');
            case '(' -> open(')', '[', ']');
            default -> word(text, at, last);
        };
    }

    /// {@return how many characters of a mark a text has from a place on}
    private static int common(CharSequence text, int at, String mark) {
        int length = 0;
        while (length < mark.length()
                && at + length < text.length()
                && text.charAt(at + length) == mark.charAt(length)) {
            length++;
        }
        return length;
    }

    private int failure() {
        fail();
        return 0;
    }

    private int colon() {
        json.append(": ");
        state = State.VALUE;
        if (open.size() == 1) {
            from = json.length();
            begins(member);
        }
        return 1;
    }

    private void separate() {
        if (comma) {
            json.append(", ");
            comma = false;
        }
    }

    private int open(char end, char begin, char jsonEnd) {
        if (open.size() == MOST_DEPTH) {
            return failure();
        }
        separate();
        json.append(begin);
        open.push(new Level(end, jsonEnd));
        state = jsonEnd == '}' ? State.KEY : State.ITEM;
        return 1;
    }

    private int close(char c) {
        if (c != open.peek().end) {
            return failure();
        }
        comma = false;
        json.append(open.pop().json);
        ended(false);
        return 1;
    }

    /// A value, or the name of a member, has ended.
    private void ended(boolean name) {
        if (name) {
            state = State.COLON;
            if (open.size() == 1) {
                JsonNode key = Json.parse(json.substring(from));
                member = key == null ? "" : key.asText();
            }
        } else if (open.isEmpty()) {
            state = State.ENDED;
        } else {
            state = State.AFTER;
            if (open.size() == 1 && open.peek().json == '}') {
                ends(member, from);
            }
        }
    }

    /// Begins a string; in Python three quotes do, too.
    private int quoted(CharSequence text, int at, boolean last) {
        String one = String.valueOf(text.charAt(at));
        String three = one.repeat(3);
        if (notation.assigns()) {
            int part = common(text, at, three);
            if (part == 3) {
                return string(three);
            }
            if (part == text.length() - at && !last) {
                return 0;
            }
        }
        return string(one);
    }

    private int string(String mark) {
        separate();
        naming = state == State.KEY;
        from = naming && open.size() == 1 ? json.length() : from;
        json.append('"');
        quote = mark;
        state = State.STRING;
        return mark.length();
    }

    /// Takes a name, a number or a constant, once its end is known.
    private int word(CharSequence text, int at, boolean last) {
        int end = at;
        while (end < text.length()
                && !Character.isWhitespace(text.charAt(end))
                && DELIMITERS.indexOf(text.charAt(end)) < 0) {
            end++;
        }
        if (end == text.length() && !last) {
            return 0;
        }
        String word = text.subSequence(at, end).toString();
        boolean name = state == State.KEY;
        String value = name ? word.matches(KEY) ? Json.text(word) : null : constant(word);
        if (value == null && notation.words() && !name && !word.isEmpty()) {
            value = Json.text(word);
        }
        if (value == null) {
            return failure();
        }
        separate();
        from = name && open.size() == 1 ? json.length() : from;
        json.append(value);
        ended(name);
        return end - at;
    }

    /// {@return the JSON of a number or a constant; null if a word is none}
    static String constant(String word) {
        if (word.equalsIgnoreCase("true") || word.equalsIgnoreCase("false")) {
            return word.equalsIgnoreCase("true") ? "true" : "false";
        }
        if (word.equals("null") || word.equals("None")) {
            return "null";
        }
        if (!word.matches(NUMBER)) {
            return null;
        }
        String number = Json.parse(word) == null ? new BigDecimal(word).toString() : word;
        return Json.parse(number) == null ? null : number;
    }

    private int inString(CharSequence text, int at, boolean last) {
        boolean raw = quote.equals(notation.quote());
        int end = at;
        while (end < text.length()) {
            char c = text.charAt(end);
            if (c == quote.charAt(0) || c == '\\' && !raw) {
                break;
            }
            end++;
        }
        if (end > at) {
            text(text.subSequence(at, end));
            return end - at;
        }
        if (text.charAt(at) == '\\' && !raw) {
            return escaped(text, at, last);
        }
        int part = common(text, at, quote);
        if (part == quote.length()) {
            json.append('"');
            ended(naming);
            return part;
        }
        if (part == text.length() - at && !last) {
            return 0;
        }
        text(text.subSequence(at, at + 1));
        return 1;
    }

    private void text(CharSequence text) {
        String quoted = Json.text(text.toString());
        json.append(quoted, 1, quoted.length() - 1);
    }

    /// Takes what a backslash begins; one that begins no escape is itself.
    private int escaped(CharSequence text, int at, boolean last) {
        if (at + 1 == text.length()) {
            if (!last) {
                return 0;
            }
            text("\\");
            return 1;
        }
        char c = text.charAt(at + 1);
        int digits = c == 'u' ? HEX : c == 'x' ? 2 : 0;
        if (digits > 0) {
            return coded(text, at, digits, last);
        }
        switch (c) {
            case 'n', 't', 'r', 'b', 'f' -> json.append('\\').append(c);
            case '\\', '\'', '"', '/' -> text(String.valueOf(c));
            default -> {
                text("\\");
                return 1;
            }
        }
        return 2;
    }

    /// Takes a character in hexadecimal digits; half of one alone is none.
    private int coded(CharSequence text, int at, int digits, boolean last) {
        int length = 2 + digits;
        int code = code(text, at + 2, digits);
        if (code == MISSING || Character.isHighSurrogate((char) code) && at + length + 2 + HEX > text.length()) {
            if (!last) {
                return 0;
            }
        }
        if (code < 0) {
            text("\\");
            return 1;
        }
        char c = (char) code;
        if (Character.isHighSurrogate(c)) {
            int low = text.length() > at + length + 1
                            && text.charAt(at + length) == '\\'
                            && text.charAt(at + length + 1) == 'u'
                    ? code(text, at + length + 2, HEX)
                    : MISSING;
            if (low >= 0 && Character.isLowSurrogate((char) low)) {
                text(String.valueOf(new char[] {c, (char) low}));
                return 2 * length;
            }
        }
        text(Character.isSurrogate(c) ? "\ufffd" : String.valueOf(c));
        return length;
    }

    private static int code(CharSequence text, int from, int digits) {
        int code = 0;
        for (int i = from; i < from + digits; i++) {
            if (i >= text.length()) {
                return MISSING;
            }
            int digit = text.charAt(i) < 128 ? Character.digit(text.charAt(i), 16) : -1;
            if (digit < 0) {
                return WRONG;
            }
            code = code * 16 + digit;
        }
        return code;
    }
}
