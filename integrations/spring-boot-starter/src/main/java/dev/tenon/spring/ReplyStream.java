package dev.tenon.spring;

import dev.tenon.Model;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.springframework.ai.chat.model.ChatResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/// Parts of a reply that is generated on a thread of its own, which waits while nobody wants any. Cancelling the
/// subscription interrupts it, which ends the generation, or the wait for a place or for demand; closing the model ends
/// the latter, too.
final class ReplyStream {
    /// How often who waits for demand looks whether the model was closed.
    private static final long LOOK_NANOS = 200_000_000;

    private final Model model;
    private final FluxSink<ChatResponse> sink;

    private ReplyStream(Model model, FluxSink<ChatResponse> sink) {
        this.model = model;
        this.sink = sink;
    }

    /// {@return the parts; each subscription generates a reply}
    ///
    /// @param model the model
    /// @param generate generates, and tells the parts on its thread
    static Flux<ChatResponse> of(Model model, Consumer<Consumer<ChatResponse>> generate) {
        return Flux.create(sink -> new ReplyStream(model, sink).start(generate));
    }

    private void start(Consumer<Consumer<ChatResponse>> generate) {
        Thread thread = Thread.ofVirtual().name("tenon-stream").unstarted(() -> run(generate));
        sink.onRequest(count -> LockSupport.unpark(thread));
        sink.onCancel(thread::interrupt);
        thread.start();
    }

    private void run(Consumer<Consumer<ChatResponse>> generate) {
        try {
            if (!sink.isCancelled()) {
                generate.accept(this::tell);
            }
            sink.complete();
        } catch (RuntimeException | Error e) {
            if (!sink.isCancelled()) {
                sink.error(e);
            }
        }
    }

    private void tell(ChatResponse part) {
        while (sink.requestedFromDownstream() == 0
                && !sink.isCancelled()
                && !model.isClosed()
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(sink, LOOK_NANOS);
        }
        sink.next(part);
    }
}
