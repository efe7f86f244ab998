package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.PartialToolCallContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells a handler what comes of a reply, until it cancels it.
final class HandlerEvents extends ReplyEvents implements StreamingHandle {
    private static final Logger LOG = LoggerFactory.getLogger(HandlerEvents.class);

    private final StreamingChatResponseHandler handler;
    private final Runnable cancel;
    private final StringBuilder untold = new StringBuilder();
    private volatile boolean cancelled;

    /// @param handler hears the reply
    /// @param cancel ends its generation
    HandlerEvents(StreamingChatResponseHandler handler, Runnable cancel) {
        this.handler = handler;
        this.cancel = cancel;
    }

    @Override
    public void cancel() {
        cancelled = true;
        cancel.run();
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public void text(String text) {
        super.text(text);
        tell(() -> handler.onPartialResponse(new PartialResponse(text), new PartialResponseContext(this)));
    }

    @Override
    public void reasoning(String text) {
        super.reasoning(text);
        tell(() -> handler.onPartialThinking(new PartialThinking(text), new PartialThinkingContext(this)));
    }

    /// Keeps white space and an opening brace until more comes: handlers hear no blank parts, and of a call without
    /// arguments one.
    @Override
    public void callArguments(int index, String json) {
        super.callArguments(index, json);
        untold.append(json);
        if (!untold.toString().replace("{", "").isBlank()) {
            tellArguments(index);
        }
    }

    private void tellArguments(int index) {
        PartialToolCall part = PartialToolCall.builder()
                .index(index)
                .id(call(index).id())
                .name(call(index).name())
                .partialArguments(untold.toString())
                .build();
        untold.setLength(0);
        tell(() -> handler.onPartialToolCall(part, new PartialToolCallContext(this)));
    }

    @Override
    public void callEnds(int index) {
        if (!untold.isEmpty()) {
            tellArguments(index);
        }
        super.callEnds(index);
        tell(() -> handler.onCompleteToolCall(new CompleteToolCall(index, lastCall())));
    }

    @Override
    public void callDropped(int index) {
        untold.setLength(0);
    }

    /// Tells the whole reply.
    ///
    /// @param modelName whose it is
    void completes(String modelName) {
        tell(() -> handler.onCompleteResponse(response(modelName)));
    }

    private void tell(Runnable callback) {
        if (cancelled) {
            return;
        }
        try {
            callback.run();
        } catch (RuntimeException e) {
            fails(e);
        }
    }

    /// Tells an error.
    ///
    /// @param error what the handler threw, or what ended the reply
    void fails(Throwable error) {
        if (cancelled) {
            LOG.debug("A cancelled reply failed", error);
            return;
        }
        try {
            handler.onError(error);
        } catch (RuntimeException e) {
            LOG.warn("onError of a handler failed, which was to hear of: {}", error.toString(), e);
        }
    }
}
