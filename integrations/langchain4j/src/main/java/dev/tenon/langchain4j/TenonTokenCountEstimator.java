package dev.tenon.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.tenon.Model;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Counts the tokens of texts and messages as the model reads them, with what its template writes around them.
/// Safe for any thread.
public final class TenonTokenCountEstimator implements TokenCountEstimator {
    private final Model model;

    private TenonTokenCountEstimator(Builder builder) {
        model = Objects.requireNonNull(builder.model, "model");
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public int estimateTokenCountInText(String text) {
        return model.countTokens(text);
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        return estimateTokenCountInMessages(List.of(message));
    }

    /// Counts the tokens of messages. Those that are no conversation to the model's template, such as the result of a
    /// tool alone, count by their texts.
    ///
    /// @param messages the messages
    /// @return how many tokens; 0 if there are no messages
    /// @throws dev.langchain4j.exception.UnsupportedFeatureException if one has what the model does not take
    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        List<ChatMessage> all = new ArrayList<>();
        messages.forEach(all::add);
        List<ChatTurn> turns = new Conversation(model).turns(all);
        if (turns.isEmpty()) {
            return 0;
        }
        try {
            return model.chatModel().count(ChatRequest.builder().turns(turns).build());
        } catch (OutOfResourcesException e) {
            return (int) e.asked(); // more than the context holds
        } catch (TenonException e) {
            if (!e.code().equals(ErrorCode.MODEL_TEMPLATE)) {
                throw e;
            }
            return turns.stream()
                    .mapToInt(turn -> model.countTokens(turn.text()))
                    .sum();
        }
    }

    /// Builds estimators. For one thread.
    public static final class Builder {
        private @Nullable Model model;

        private Builder() {}

        /// Sets the model whose tokens are counted.
        ///
        /// @param loaded the model, which stays the caller's to close
        /// @return this
        public Builder model(Model loaded) {
            model = Objects.requireNonNull(loaded, "model");
            return this;
        }

        /// {@return the estimator}
        public TenonTokenCountEstimator build() {
            return new TenonTokenCountEstimator(this);
        }
    }
}
