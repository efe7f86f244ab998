package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.tenon.TextRequest;
import java.util.List;
import java.util.Set;

/// A model that chats, and tells its answers as they come. Safe for any thread; a chat does not block.
///
/// A handler hears an answer on one virtual thread, which generates it: a slow handler slows its answer. What a
/// callback throws reaches `onError`, and the answer goes on, unless it is an [Error]. After a cancellation the handler
/// hears nothing more.
public final class TenonStreamingChatModel implements StreamingChatModel {
    private final ChatSettings settings;

    private TenonStreamingChatModel(Builder builder) {
        settings = builder.settings();
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    /// Begins to answer.
    ///
    /// @param request messages and parameters
    /// @param handler hears the answer, or of the error that ended it
    /// @throws dev.langchain4j.exception.UnsupportedFeatureException if it asks for what this cannot do
    @Override
    public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
        TextRequest text = settings.request(request);
        HandlerEvents reply = new HandlerEvents(handler, text::cancel);
        Thread.ofVirtual().name("tenon-streaming-chat").start(() -> {
            try {
                text.reply(reply);
                reply.completes(settings.modelName());
            } catch (RuntimeException | Error e) {
                reply.fails(e);
            }
        });
    }

    @Override
    public ChatRequestParameters defaultRequestParameters() {
        return settings.defaults();
    }

    @Override
    public List<ChatModelListener> listeners() {
        return settings.listeners();
    }

    @Override
    public Set<Capability> supportedCapabilities() {
        return ChatSettings.CAPABILITIES;
    }

    /// Builds models. For one thread.
    public static final class Builder extends TenonChatBuilder<Builder> {
        private Builder() {}

        /// {@return the model}
        ///
        /// @throws dev.langchain4j.exception.UnsupportedFeatureException if the parameters name another model
        public TenonStreamingChatModel build() {
            return new TenonStreamingChatModel(this);
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
