package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.List;
import java.util.Set;

/// A model that chats, and returns whole answers. Safe for any thread; a chat blocks its thread, and interrupting it
/// ends the answer with what there is of it.
public final class TenonChatModel implements ChatModel {
    private final ChatSettings settings;

    private TenonChatModel(Builder builder) {
        settings = builder.settings();
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    /// Answers. Blocks.
    ///
    /// @param request messages and parameters
    /// @return the answer
    /// @throws dev.langchain4j.exception.UnsupportedFeatureException if it asks for what this cannot do
    /// @throws dev.tenon.api.error.TenonException as [dev.tenon.TextRequest#reply(dev.tenon.api.chat.ChatEvents)]
    @Override
    public ChatResponse doChat(ChatRequest request) {
        ReplyEvents reply = new ReplyEvents();
        settings.request(request).reply(reply);
        return reply.response(settings.modelName());
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
        public TenonChatModel build() {
            return new TenonChatModel(this);
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
