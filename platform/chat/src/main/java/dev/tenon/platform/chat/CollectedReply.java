package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A whole reply. For one thread at a time.
public final class CollectedReply implements ReplySink {
    private final StringBuilder reasoning = new StringBuilder();
    private final StringBuilder content = new StringBuilder();
    private final Map<Integer, Call> calls = new LinkedHashMap<>();

    /// The call of a tool.
    ///
    /// @param id its id
    /// @param name the tool
    /// @param arguments JSON, an object once the call is whole
    public record Call(String id, String name, StringBuilder arguments) {
        /// {@return the arguments of a whole call}
        public ObjectNode input() {
            return Json.object(arguments.toString());
        }
    }

    /// Collects nothing yet.
    public CollectedReply() {}

    @Override
    public void reasoning(String text) {
        reasoning.append(text);
    }

    @Override
    public void content(String text) {
        content.append(text);
    }

    @Override
    public void call(int index, String id, String name) {
        calls.put(index, new Call(id, name, new StringBuilder()));
    }

    @Override
    public void arguments(int index, String json) {
        calls.get(index).arguments().append(json);
    }

    @Override
    public void uncalled(int index) {
        calls.remove(index);
    }

    /// {@return the reasoning; empty if there was none}
    public String reasoning() {
        return reasoning.toString();
    }

    /// {@return the answer; empty if there was none}
    public String content() {
        return content.toString();
    }

    /// {@return the calls of tools}
    public List<Call> calls() {
        return List.copyOf(calls.values());
    }
}
