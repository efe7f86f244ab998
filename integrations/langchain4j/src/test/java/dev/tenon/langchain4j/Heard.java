package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/// Hears a reply.
final class Heard implements StreamingChatResponseHandler {
    final StringBuffer text = new StringBuffer();
    final StringBuffer thoughts = new StringBuffer();
    final AtomicInteger parts = new AtomicInteger();
    int cancelAfter = -1;
    Error thrown;
    private final CompletableFuture<ChatResponse> response = new CompletableFuture<>();
    private final CompletableFuture<Throwable> error = new CompletableFuture<>();
    private final CompletableFuture<Boolean> cancelled = new CompletableFuture<>();

    @Override
    public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
        text.append(part.text());
        if (parts.incrementAndGet() == cancelAfter) {
            context.streamingHandle().cancel();
            cancelled.complete(context.streamingHandle().isCancelled());
        }
        if (thrown != null) {
            throw thrown;
        }
    }

    @Override
    public void onPartialThinking(PartialThinking part) {
        thoughts.append(part.text());
    }

    @Override
    public void onCompleteResponse(ChatResponse whole) {
        response.complete(whole);
    }

    @Override
    public void onError(Throwable failure) {
        error.complete(failure);
        response.completeExceptionally(failure);
    }

    ChatResponse response() {
        return response.join();
    }

    Throwable error() {
        return error.join();
    }

    boolean isComplete() {
        return response.isDone();
    }

    void awaitCancellation() {
        if (!cancelled.join()) {
            throw new AssertionError("was cancelled, and says that it is not");
        }
    }
}
