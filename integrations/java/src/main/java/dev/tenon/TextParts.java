package dev.tenon;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/// The text of a request as a stream: one thread generates, another takes.
final class TextParts implements Iterator<String> {
    private static final int MOST_AHEAD = 16;

    private final TextRequest request;
    private final BlockingQueue<Part> parts = new ArrayBlockingQueue<>(MOST_AHEAD);
    private volatile boolean closed;
    /// What is given next; null if that is not known yet.
    private @Nullable Part next;

    /// A part of the text, or its end, which may be a failure.
    private sealed interface Part {}

    private record Text(String text) implements Part {}

    /// The end of the text.
    ///
    /// @param outcome throws what the request failed with, if it did
    private record End(Runnable outcome) implements Part {}

    TextParts(TextRequest request) {
        this.request = request;
    }

    /// Generates. Called on a thread of its own.
    ///
    /// @param run generates
    void produce(Function<ChatEvents, ChatReply> run) {
        Runnable outcome = () -> {};
        try {
            run.apply(text -> put(new Text(text)));
        } catch (RuntimeException e) {
            outcome = () -> {
                throw e;
            };
        } catch (Error e) {
            outcome = () -> {
                throw e;
            };
        }
        put(new End(outcome));
    }

    private void put(Part part) {
        try {
            if (!closed) { // a queue that was cleared has room for the one part that was under way
                parts.put(part);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // nobody has the thread
        }
    }

    Stream<String> stream() {
        return StreamSupport.stream(
                        Spliterators.spliteratorUnknownSize(this, Spliterator.ORDERED | Spliterator.NONNULL), false)
                .onClose(this::close);
    }

    private void close() {
        closed = true;
        request.cancel();
        parts.clear();
    }

    @Override
    public boolean hasNext() {
        if (next == null) {
            next = take();
        }
        if (next instanceof End(Runnable outcome)) {
            outcome.run();
        }
        return next instanceof Text;
    }

    @Override
    public String next() {
        if (!hasNext() || !(next instanceof Text(String text))) {
            throw new NoSuchElementException();
        }
        next = null;
        return text;
    }

    private Part take() {
        try {
            return parts.take();
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw new TenonException(ErrorCode.INTERRUPTED, "The thread was interrupted while it waited for text.", e);
        }
    }
}
