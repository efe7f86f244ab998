package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.CallFormat;
import java.util.HashSet;
import java.util.Set;

/// Reads the call of a tool that is a JSON object with its name and its arguments.
final class ObjectReader extends CallReader {
    /// Keys of the name and of the arguments that models write whatever their format.
    private static final Set<String> NAMES = Set.of("name", "tool_name");
    private static final Set<String> ARGUMENTS = Set.of("arguments", "parameters");
    /// Members that a call may have beside those.
    private static final Set<String> OTHERS = Set.of("type", "id", "tool_call_id", "function");

    private final ToolSchemas tools;
    private final Set<String> names = new HashSet<>(NAMES);
    private final Set<String> argumentKeys = new HashSet<>(ARGUMENTS);
    private final boolean bare;
    private final Members object = new Members();
    /// Where in the JSON the arguments begin, those that were not handed on, and where they end; -1 if that is unknown.
    private int from = -1;

    private int next;
    private int to = -1;

    /// @param shape that of the format, whose keys are understood beside the usual ones
    /// @param bare whether no mark tells that this is a call: then it has the members of one and no others
    ObjectReader(ToolSchemas tools, CallFormat.Shape shape, boolean bare) {
        super(null);
        if (shape instanceof CallFormat.JsonObject keys) {
            names.add(keys.name());
            argumentKeys.add(keys.arguments());
        }
        this.tools = tools;
        this.bare = bare;
    }

    private final class Members extends LiteralReader {
        Members() {
            super(Literals.JSON);
        }

        @Override
        void begins(String key) {
            boolean arguments = argumentKeys.contains(key);
            if (arguments && from >= 0 || bare && !arguments && !names.contains(key) && !OTHERS.contains(key)) {
                fail();
            } else if (arguments) {
                from = json().length();
                next = from;
            }
        }

        @Override
        void ends(String key, int begin) {
            if (argumentKeys.contains(key)) {
                to = json().length();
            } else if (names.contains(key) && !called(Json.parse(json().substring(begin)))) {
                fail();
            }
        }
    }

    private boolean called(JsonNode tool) {
        String offered = tool != null && tool.isTextual() && name() == null ? tools.offered(tool.asText()) : null;
        if (offered != null) {
            name(offered);
        }
        return offered != null;
    }

    @Override
    int take(StringBuilder pending, boolean last) {
        int taken = object.take(pending, last);
        if (isObject()) {
            begin();
            hand();
        }
        if (object.failed()) {
            fail();
        } else if (object.ended()) {
            whole();
        }
        return taken;
    }

    private boolean isObject() {
        return from >= 0 && object.json().length() > from && object.json().charAt(from) == '{';
    }

    private void hand() {
        int end = to >= 0 ? to : object.json().length();
        arguments.append(object.json(), next, end);
        next = end;
    }

    private void whole() {
        if (!isObject()) {
            String value = from >= 0 ? object.json().substring(from, to) : bare ? "" : "null";
            JsonNode all = Json.parse(object.json().toString()); // null if a key comes twice
            if (name() == null && all != null && called(all.path("function").get("name"))) {
                value = all.get("function").path("arguments").toString();
            }
            String read = ArgumentsReader.object(value);
            if (read == null) {
                fail();
                return;
            }
            arguments.append(read);
            begin();
        }
        if (name() == null) {
            fail();
        } else {
            end();
        }
    }
}
