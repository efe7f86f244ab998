package dev.tenon.api.chat;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A whole reply. Immutable.
///
/// @param text the answer; empty if there was none; never null
/// @param reasoning what the model thought before it; empty if there was none; never null
/// @param calls its calls of tools; the last one may be cut at [ChatEnd#LENGTH]; unmodifiable
/// @param end why it ended
/// @param usage counts and times
public record ChatReply(String text, String reasoning, List<ToolCall> calls, ChatEnd end, Usage usage) {
    /// Copies.
    public ChatReply {
        calls = List.copyOf(calls);
    }

    /// {@return the reply as a turn of the conversation that goes on}
    public ChatTurn turn() {
        return new ChatTurn(
                ChatTurn.ASSISTANT, text, reasoning.isEmpty() ? null : reasoning, calls, null, null, List.of());
    }

    /// Collects a reply from its events. For one thread at a time.
    public static class Collector implements ChatEvents {
        private final StringBuilder text = new StringBuilder();
        private final StringBuilder reasoning = new StringBuilder();
        private final Map<Integer, Call> calls = new LinkedHashMap<>();
        private ChatEnd end = ChatEnd.CANCELLED;
        private Usage usage = new Usage(0, 0, 0, 0, 0, FinishReason.CANCELLED, 0, 0);

        private record Call(String id, String name, StringBuilder arguments) {}

        /// Makes one that has heard nothing.
        public Collector() {}

        @Override
        public void text(String part) {
            text.append(part);
        }

        @Override
        public void reasoning(String part) {
            reasoning.append(part);
        }

        @Override
        public void callBegins(int index, String id, String name) {
            calls.put(index, new Call(id, name, new StringBuilder()));
        }

        @Override
        public void callArguments(int index, String json) {
            calls.get(index).arguments().append(json);
        }

        @Override
        public void callDropped(int index) {
            calls.remove(index);
        }

        @Override
        public void ends(ChatEnd why, Usage counts) {
            end = why;
            usage = counts;
        }

        /// {@return what came so far; before its end a reply that is cancelled, without counts}
        public ChatReply reply() {
            List<ToolCall> all = calls.values().stream()
                    .map(call -> new ToolCall(
                            call.id(), call.name(), call.arguments().toString()))
                    .toList();
            return new ChatReply(text.toString(), reasoning.toString(), all, end, usage);
        }
    }
}
