package dev.tenon.api.engine;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.osgi.annotation.versioning.ProviderType;

/// A generation that runs by itself, on no thread of its caller's. Safe for any thread.
///
/// Its events go to one subscriber, on virtual threads, one after the other; what comes before
/// there is a subscriber is kept. A subscriber that does not request events, or blocks, pauses its
/// own generation after some of them, and nothing else. A stop at the end of the text, the limit or
/// a cancellation completes the stream, a failure ends it with [Flow.Subscriber#onError].
/// Cancelling the subscription cancels the generation.
@ProviderType
public interface Generation extends Flow.Publisher<GenerationEvent> {
    /// {@return counts, times and why it ended; fails with what made the generation fail. Completes
    ///     after the last event was delivered, if there is a subscriber}
    CompletionStage<Usage> result();

    /// Ends the generation after the running step, with [FinishReason#CANCELLED]. No event follows;
    /// the session keeps the tokens that were delivered. Nothing happens when it has ended.
    void cancel();
}
