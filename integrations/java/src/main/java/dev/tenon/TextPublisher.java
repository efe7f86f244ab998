package dev.tenon;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/// The text of a request for one subscriber.
final class TextPublisher implements Flow.Publisher<String> {
    private static final int MOST_AHEAD = 16;

    private final TextRequest request;
    private final Function<ChatEvents, ChatReply> run;
    private final AtomicBoolean taken = new AtomicBoolean();

    TextPublisher(TextRequest request, Function<ChatEvents, ChatReply> run) {
        this.request = request;
        this.run = run;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super String> subscriber) {
        SubmissionPublisher<String> parts = new SubmissionPublisher<>(Thread::startVirtualThread, MOST_AHEAD);
        parts.subscribe(new Cancelling(subscriber));
        if (taken.getAndSet(true)) {
            parts.closeExceptionally(new IllegalStateException("This text has a subscriber; make another request"));
        } else {
            Thread.ofVirtual().name("tenon-publisher").start(() -> publish(parts));
        }
    }

    private void publish(SubmissionPublisher<String> parts) {
        try {
            run.apply(text -> {
                if (parts.hasSubscribers()) {
                    parts.submit(text);
                } else {
                    request.cancel(); // the subscriber failed
                }
            });
            parts.close();
        } catch (RuntimeException | Error e) {
            parts.closeExceptionally(e);
        }
    }

    /// A subscriber whose end ends the request.
    private final class Cancelling implements Flow.Subscriber<String> {
        private final Flow.Subscriber<? super String> subscriber;

        Cancelling(Flow.Subscriber<? super String> subscriber) {
            this.subscriber = Objects.requireNonNull(subscriber, "subscriber");
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    subscription.request(count);
                }

                @Override
                public void cancel() {
                    subscription.cancel();
                    request.cancel();
                }
            });
        }

        @Override
        public void onNext(String text) {
            subscriber.onNext(text);
        }

        @Override
        public void onError(Throwable failure) {
            subscriber.onError(failure);
        }

        @Override
        public void onComplete() {
            subscriber.onComplete();
        }
    }
}
