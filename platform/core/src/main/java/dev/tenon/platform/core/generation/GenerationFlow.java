package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.Usage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/// A generation whose events go to a subscriber on virtual threads: one begins when something has
/// arrived and ends when all of it is delivered, and never two at a time. So a subscriber that
/// blocks holds up its own generation only.
public final class GenerationFlow implements Generation, Flow.Subscription {
    /// Threads that inherit nothing: who submits may belong to a bundle that is replaced meanwhile.
    private static final ThreadFactory DELIVERY = Thread.ofVirtual()
            .name("tenon-events")
            .inheritInheritableThreadLocals(false)
            .factory();

    private final EventQueue events;
    private final Runnable onCancel;
    private final UnaryOperator<Usage> settle;
    private final Runnable onEnd;
    private final CompletableFuture<Usage> result = new CompletableFuture<>();
    private final AtomicReference<Flow.Subscriber<? super GenerationEvent>> subscriber = new AtomicReference<>();
    private final AtomicLong demand = new AtomicLong();
    /// Signals that [#deliver] has not looked at.
    private final AtomicInteger signals = new AtomicInteger();
    private volatile IllegalArgumentException badDemand;
    /// Whether the subscriber has got its subscription.
    private boolean subscribed;
    /// Whether the subscriber was told the end, or has failed.
    private boolean streamEnded;

    /// @param cancel ends the generation
    /// @param resume has it go on after a pause
    /// @param settle shortens the session to what was delivered; called once, after the end
    /// @param onEnd called when the session is free again
    public GenerationFlow(Runnable cancel, Runnable resume, UnaryOperator<Usage> settle, Runnable onEnd) {
        this.onCancel = cancel;
        this.settle = settle;
        this.onEnd = onEnd;
        this.events = new EventQueue(this::signal, resume);
    }

    public EventQueue events() {
        return events;
    }

    @Override
    public CompletionStage<Usage> result() {
        return result.minimalCompletionStage();
    }

    @Override
    public void subscribe(Flow.Subscriber<? super GenerationEvent> next) {
        if (!subscriber.compareAndSet(null, next)) {
            next.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long n) {
                    // nothing comes
                }

                @Override
                public void cancel() {
                    // nothing comes
                }
            });
            next.onError(new IllegalStateException("a generation has one subscriber"));
            return;
        }
        events.consume();
        signal();
    }

    @Override
    public void request(long n) {
        if (n <= 0) {
            badDemand = new IllegalArgumentException("request(" + n + "); expected 1 or more");
            cancel();
        } else {
            demand.accumulateAndGet(n, (have, more) -> have + more < 0 ? Long.MAX_VALUE : have + more);
        }
        signal();
    }

    @Override
    public void cancel() {
        if (!result.isDone()) {
            onCancel.run();
        }
        signal();
    }

    private void signal() {
        if (signals.getAndIncrement() == 0) {
            DELIVERY.newThread(this::deliverAll).start();
        }
    }

    private void deliverAll() {
        int seen = signals.get();
        do {
            deliver();
            seen = signals.addAndGet(-seen);
        } while (seen != 0);
    }

    private void deliver() {
        Flow.Subscriber<? super GenerationEvent> to = subscriber.get();
        try {
            if (to != null && !subscribed) {
                subscribed = true;
                to.onSubscribe(this);
            }
            while (to != null && !streamEnded && demand.get() > 0) {
                GenerationEvent event = events.take(false);
                if (event == null) {
                    break;
                }
                demand.decrementAndGet();
                to.onNext(event);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            onCancel.run();
        } catch (RuntimeException | Error e) {
            streamEnded = true; // by the rules of Flow, a subscriber that throws has cancelled
            onCancel.run();
        }
        if (events.ended() && !result.isDone() && (to == null || events.finished())) {
            complete();
        }
        if (to != null && !streamEnded && result.isDone() && events.finished()) {
            streamEnded = true;
            end(to);
        }
    }

    private void complete() {
        Usage usage = null;
        Throwable failure = events.failure();
        try {
            if (failure == null) {
                usage = settle.apply(events.result());
            }
        } catch (RuntimeException e) {
            failure = e;
        }
        onEnd.run();
        if (failure == null) {
            result.complete(usage);
        } else {
            result.completeExceptionally(failure);
        }
    }

    private void end(Flow.Subscriber<? super GenerationEvent> to) {
        if (badDemand != null) {
            to.onError(badDemand);
        } else if (result.isCompletedExceptionally()) {
            to.onError(result.exceptionNow());
        } else {
            to.onComplete();
        }
    }
}
