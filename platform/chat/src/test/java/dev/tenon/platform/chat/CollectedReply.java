package dev.tenon.platform.chat;

import java.util.ArrayList;
import java.util.List;

/// A whole reply. For one thread at a time.
public final class CollectedReply implements ReplySink {
    private final StringBuilder reasoning = new StringBuilder();
    private final StringBuilder content = new StringBuilder();
    private final List<Call> calls = new ArrayList<>();

    /// The call of a tool.
    ///
    /// @param id its id
    /// @param name the tool
    /// @param arguments JSON
    public record Call(String id, String name, StringBuilder arguments) {}

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
        calls.add(new Call(id, name, new StringBuilder()));
    }

    @Override
    public void arguments(int index, String json) {
        calls.get(index).arguments().append(json);
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
        return List.copyOf(calls);
    }
}
