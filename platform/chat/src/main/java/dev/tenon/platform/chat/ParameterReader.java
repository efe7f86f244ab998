package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat.NameThenTags;
import java.util.List;

/// Reads the arguments of a call that has a tag for each parameter, and writes them as JSON, of the types that the
/// tool's schema gives them: strings as their characters come, others when they end.
final class ParameterReader extends CallReader {
    private final NameThenTags tags;
    private final String close;
    private final List<String> marks;
    private final ToolSchemas tools;
    private State state = State.BETWEEN;
    private String key;
    private ParameterType type;
    private boolean first = true;

    private enum State {
        /// After the name or a value.
        BETWEEN,
        KEY,
        BEFORE_VALUE,
        VALUE
    }

    /// @param name the tool
    /// @param tags how parameters are written
    /// @param close what ends the call; empty if a mark does
    /// @param marks those of calls, which end it, too
    /// @param tools have the types
    ParameterReader(String name, NameThenTags tags, String close, List<String> marks, ToolSchemas tools) {
        super(name);
        this.tags = tags;
        this.close = close;
        this.marks = marks;
        this.tools = tools;
        arguments.append('{');
    }

    @Override
    int take(StringBuilder pending, boolean last) {
        int at = 0;
        boolean more = true;
        while (more && !ended() && !failed()) {
            State before = state;
            String text = pending.substring(at);
            int taken = switch (state) {
                case BETWEEN -> between(text, last);
                case KEY -> key(text);
                case BEFORE_VALUE -> beforeValue(text, last);
                case VALUE -> value(text, last);
            };
            at += taken;
            more = taken > 0 || state != before;
        }
        if (last && !ended()) {
            fail();
        }
        return at;
    }

    /// {@return how many characters before a text are blanks}
    private static int blanks(String text) {
        return text.length() - text.stripLeading().length();
    }

    private int between(String text, boolean last) {
        int blanks = blanks(text);
        String rest = text.substring(blanks);
        if (rest.startsWith(tags.keyOpen())) {
            state = State.KEY;
            return blanks + tags.keyOpen().length();
        }
        boolean closed = !close.isEmpty() && rest.startsWith(close);
        if (closed || marks.stream().anyMatch(rest::startsWith)) { // a model may leave out what closes a call
            arguments.append('}');
            begin();
            end();
            return closed ? blanks + close.length() : 0;
        }
        boolean open = rest.isEmpty()
                || tags.keyOpen().startsWith(rest)
                || close.startsWith(rest)
                || marks.stream().anyMatch(mark -> mark.startsWith(rest));
        if (last || !open) {
            fail();
        }
        return 0;
    }

    private int key(String text) {
        int string = text.indexOf(tags.keyEnd());
        int other = text.indexOf(tags.otherKeyEnd());
        boolean asText = string >= 0 && (other < 0 || string <= other);
        int end = asText ? string : other;
        if (end < 0) {
            return 0;
        }
        key = text.substring(0, end).strip();
        type = tools.type(name(), key);
        if (!tags.otherKeyEnd().equals(tags.keyEnd())) {
            type = type.told(asText);
        }
        state = State.BEFORE_VALUE;
        return end + (asText ? tags.keyEnd() : tags.otherKeyEnd()).length();
    }

    private int beforeValue(String text, boolean last) {
        String open = tags.valueOpen();
        int blanks = open.isEmpty() ? 0 : blanks(text);
        String rest = text.substring(blanks);
        if (!rest.startsWith(open)) {
            if (last || !open.startsWith(rest)) {
                fail();
            }
            return 0;
        }
        if (tags.wrapped() && rest.length() == open.length() && !last) {
            return 0; // a line end may come, which is none of the value
        }
        boolean wrapped = tags.wrapped() && rest.startsWith("\n", open.length());
        begin();
        arguments.append(first ? "" : ", ").append(Json.text(key)).append(": ").append(type.isText() ? "\"" : "");
        first = false;
        state = State.VALUE;
        return blanks + open.length() + (wrapped ? 1 : 0);
    }

    private int value(String text, boolean last) {
        int end = valueEnd(text, last);
        if (end < 0) {
            int upTo = type.isText() ? text.length() - held(text) : 0;
            string(text.substring(0, upTo));
            return upTo;
        }
        boolean wrapped = tags.wrapped() && end > 0 && text.charAt(end - 1) == '\n';
        String value = text.substring(0, wrapped ? end - 1 : end);
        if (type.isText()) {
            string(value);
            arguments.append('"');
        } else {
            arguments.append(type.json(value));
        }
        state = State.BETWEEN;
        return end + tags.valueEnd().length();
    }

    private void string(String text) {
        String quoted = Json.text(text);
        arguments.append(quoted, 1, quoted.length() - 1);
    }

    /// {@return where the value ends, or -1; the mark may stand in a string of a JSON value}
    private int valueEnd(String text, boolean last) {
        int first = text.indexOf(tags.valueEnd());
        int end = first;
        while (end >= 0) {
            String value = text.substring(0, end).strip();
            if (type.isText() || !value.matches("(?s)[\\[{\"].*") || LiteralReader.json(value) != null) {
                return end;
            }
            end = text.indexOf(tags.valueEnd(), end + 1);
        }
        return last ? first : -1;
    }

    /// {@return how many characters at the end may belong to what ends the value}
    private int held(String text) {
        int held = ReplyParser.partOf(tags.valueEnd(), text);
        int line = text.length() - held - 1;
        return tags.wrapped() && line >= 0 && text.charAt(line) == '\n' ? held + 1 : held;
    }
}
