package dev.tenon.platform.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Keeps parts of a reply until it is known whether they are any. For one thread.
final class HeldReply implements ReplySink {
    private final List<Consumer<ReplySink>> parts = new ArrayList<>();
    private boolean text;

    private void keep(boolean isText, Consumer<ReplySink> part) {
        text |= isText && parts.isEmpty();
        parts.add(part);
    }

    @Override
    public void reasoning(String part) {
        keep(true, sink -> sink.reasoning(part));
    }

    @Override
    public void content(String part) {
        keep(true, sink -> sink.content(part));
    }

    @Override
    public void call(int index, String id, String name) {
        keep(false, sink -> sink.call(index, id, name));
    }

    @Override
    public void arguments(int index, String json) {
        keep(false, sink -> sink.arguments(index, json));
    }

    @Override
    public void written(String part) {
        keep(false, sink -> sink.written(part));
    }

    /// {@return whether the first part is text}
    boolean isText() {
        return text;
    }

    /// Hands all parts on.
    void hand(ReplySink sink) {
        parts.forEach(part -> part.accept(sink));
    }
}
