package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;

/// Reads the call of a tool that is a JSON object with `name` and `arguments`, or the arguments alone.
final class ObjectReader implements CallReader {
    private final ReplySink sink;
    private final int index;
    private final String id;
    /// Whether the object is the arguments.
    private final boolean whole;
    private final StringBuilder raw = new StringBuilder();
    private final StringBuilder string = new StringBuilder();
    private final StringBuilder value = new StringBuilder();
    private final StringBuilder blanks = new StringBuilder();
    private String key = "";
    private String name;
    private int depth;
    private boolean inString;
    private boolean escaped;
    /// Whether what comes is the value of [#key].
    private boolean inValue;
    private boolean argued;
    private boolean told;

    /// @param name the tool, where the object is the arguments alone; else null
    ObjectReader(ReplySink sink, int index, String id, String name) {
        this.sink = sink;
        this.index = index;
        this.id = id;
        this.name = name;
        this.whole = name != null;
    }

    @Override
    public void take(StringBuilder pending, boolean last) {
        int at = 0;
        while (at < pending.length() && !ended()) {
            char c = pending.charAt(at++);
            raw.append(c);
            if (inString) {
                inString(c);
            } else {
                outside(c);
            }
        }
        pending.delete(0, at);
        tell();
    }

    private void inString(char c) {
        argument(c);
        if (escaped) {
            escaped = false;
            string.append(c);
        } else if (c == '"') {
            inString = false;
            if (depth == 1 && !whole) {
                stringEnded();
            }
        } else {
            escaped = c == '\\';
            string.append(c);
        }
    }

    private void stringEnded() {
        JsonNode text = Json.parse('"' + string.toString() + '"');
        if (text != null && !inValue) {
            key = text.asText();
        } else if (text != null && (key.equals("name") || key.equals("tool_name"))) {
            name = text.asText();
        }
    }

    private void outside(char c) {
        switch (c) {
            case '"' -> {
                inString = true;
                string.setLength(0);
                argument(c);
            }
            case '{', '[' -> {
                depth++;
                argument(c);
            }
            case '}', ']' -> {
                depth--;
                if (depth > 0 || whole) {
                    argument(c);
                }
            }
            case ':', ',' -> {
                if (depth == 1 && !whole) {
                    inValue = c == ':';
                    blanks.setLength(0);
                } else {
                    argument(c);
                }
            }
            default -> argument(c);
        }
    }

    /// Takes a character that may be one of the arguments; blanks before and after them are none.
    private void argument(char c) {
        if (!whole && (!inValue || !key.equals("arguments") && !key.equals("parameters"))) {
            return;
        }
        if (!inString && Character.isWhitespace(c)) {
            blanks.append(argued ? String.valueOf(c) : "");
            return;
        }
        argued = true;
        value.append(blanks).append(c);
        blanks.setLength(0);
    }

    private void tell() {
        if (name == null) {
            return;
        }
        boolean ended = ended();
        if (!told && (argued || ended)) {
            told = true;
            sink.call(index, id, name);
        }
        if (ended && !argued) {
            argued = true;
            value.append("{}");
        }
        if (told && !value.isEmpty()) {
            sink.arguments(index, value.toString());
            value.setLength(0);
        }
    }

    @Override
    public boolean ended() {
        return depth == 0 && raw.length() > 0;
    }

    @Override
    public boolean told() {
        return told;
    }

    @Override
    public String raw() {
        return raw.toString();
    }
}
