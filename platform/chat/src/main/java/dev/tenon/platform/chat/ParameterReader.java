package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;

/// Reads the call of a tool that has a tag for each parameter, and writes its arguments as JSON: a parameter that is a
/// string by the tool's schema as its characters come, others when they end, as what they are if they are JSON.
final class ParameterReader implements CallReader {
    private final CallFormat.Parameters tags;
    private final ToolSchemas schemas;
    private final ReplySink sink;
    private final int index;
    private final String id;
    private final StringBuilder raw = new StringBuilder();
    private State state = State.NAME;
    private String name;
    private String key;
    private boolean text;
    private boolean first = true;

    private enum State {
        NAME,
        /// After the name or a value.
        BETWEEN,
        KEY,
        BEFORE_VALUE,
        VALUE,
        ENDED
    }

    ParameterReader(CallFormat.Parameters tags, ToolSchemas schemas, ReplySink sink, int index, String id) {
        this.tags = tags;
        this.schemas = schemas;
        this.sink = sink;
        this.index = index;
        this.id = id;
    }

    @Override
    public void take(StringBuilder pending, boolean last) {
        boolean more = true;
        while (more && state != State.ENDED) {
            more = switch (state) {
                case NAME -> name(pending, last);
                case BETWEEN -> between(pending, last);
                case KEY -> key(pending);
                case BEFORE_VALUE -> beforeValue(pending, last);
                case VALUE -> value(pending, last);
                case ENDED -> false;
            };
        }
    }

    private boolean name(StringBuilder pending, boolean last) {
        int at = tags.open().length();
        while (at < pending.length() && isName(pending.charAt(at))) {
            at++;
        }
        if (at == pending.length() && !last) {
            return false;
        }
        name = pending.substring(Math.min(at, tags.open().length()), at);
        raw.append(pending, 0, at);
        pending.delete(0, at);
        if (name.isEmpty()) {
            state = State.ENDED;
            return false;
        }
        sink.call(index, id, name);
        sink.arguments(index, "{");
        state = State.BETWEEN;
        return true;
    }

    /// {@return whether a character may be part of a tool's name}
    static boolean isName(char c) {
        return c < 128 && Character.isLetterOrDigit(c) || c == '_' || c == '.' || c == '-';
    }

    private boolean between(StringBuilder pending, boolean last) {
        int blanks = 0;
        while (blanks < pending.length()
                && (Character.isWhitespace(pending.charAt(blanks)) || "\">".indexOf(pending.charAt(blanks)) >= 0)) {
            blanks++;
        }
        pending.delete(0, blanks);
        String rest = pending.toString();
        if (rest.startsWith(tags.keyOpen())) {
            pending.delete(0, tags.keyOpen().length());
            state = State.KEY;
            return true;
        }
        if (rest.startsWith(tags.close())) {
            pending.delete(0, tags.close().length());
            end();
        } else if (!rest.isEmpty()
                && (last || !tags.keyOpen().startsWith(rest) && !tags.close().startsWith(rest))) {
            end(); // the model left something out
        }
        return false;
    }

    private void end() {
        sink.arguments(index, "}");
        state = State.ENDED;
    }

    private boolean key(StringBuilder pending) {
        int end = pending.indexOf(tags.keyEnd());
        if (end < 0) {
            return false;
        }
        key = pending.substring(0, end).strip();
        pending.delete(0, end + tags.keyEnd().length());
        state = State.BEFORE_VALUE;
        return true;
    }

    private boolean beforeValue(StringBuilder pending, boolean last) {
        String open = tags.valueOpen();
        String rest = open.isEmpty() ? pending.toString() : pending.toString().stripLeading();
        if (!last && (rest.length() < open.length() || tags.wrapped() && rest.isEmpty())) {
            return false;
        }
        int from = rest.startsWith(open) ? open.length() : 0;
        if (tags.wrapped() && rest.startsWith("\n")) {
            from = 1;
        }
        pending.setLength(0);
        pending.append(rest, from, rest.length());
        text = schemas.isText(name, key);
        sink.arguments(index, (first ? "" : ", ") + Json.text(key) + ": " + (text ? "\"" : ""));
        first = false;
        state = State.VALUE;
        return true;
    }

    private boolean value(StringBuilder pending, boolean last) {
        int end = valueEnd(pending, last);
        boolean ended = end >= 0;
        int upTo = ended ? end : last ? pending.length() : pending.length() - held(pending);
        if (ended && tags.wrapped() && end > 0 && pending.charAt(end - 1) == '\n') {
            upTo--;
        }
        if (text || ended) {
            hand(pending.substring(0, upTo));
            pending.delete(0, ended ? end + tags.valueEnd().length() : upTo);
        }
        if (ended) {
            if (text) {
                sink.arguments(index, "\"");
            }
            state = State.BETWEEN;
        }
        return ended;
    }

    /// {@return where the value ends, or -1; the mark may stand in a string of a JSON value}
    private int valueEnd(StringBuilder pending, boolean last) {
        int first = pending.indexOf(tags.valueEnd());
        int end = first;
        while (end >= 0) {
            String value = pending.substring(0, end).strip();
            if (text || !value.matches("(?s)[\\[{\"].*") || Json.parse(value) != null) {
                return end;
            }
            end = pending.indexOf(tags.valueEnd(), end + 1);
        }
        return last ? first : -1;
    }

    /// {@return how many characters at the end may belong to what ends the value}
    private int held(StringBuilder pending) {
        int held = ReplyParser.partOf(tags.valueEnd(), pending);
        int line = pending.length() - held - 1;
        return tags.wrapped() && line >= 0 && pending.charAt(line) == '\n' ? held + 1 : held;
    }

    private void hand(String value) {
        JsonNode json = text || value.isBlank() ? null : Json.parse(value.strip());
        String quoted = Json.text(value);
        if (json != null) {
            sink.arguments(index, value.strip());
        } else if (!text) {
            sink.arguments(index, quoted);
        } else if (!value.isEmpty()) {
            sink.arguments(index, quoted.substring(1, quoted.length() - 1));
        }
    }

    @Override
    public boolean ended() {
        return state == State.ENDED;
    }

    @Override
    public boolean told() {
        return name != null && !name.isEmpty();
    }

    @Override
    public String raw() {
        return raw.toString();
    }
}
