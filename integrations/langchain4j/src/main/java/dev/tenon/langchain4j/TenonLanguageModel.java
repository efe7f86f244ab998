package dev.tenon.langchain4j;

import dev.langchain4j.model.language.LanguageModel;
import dev.langchain4j.model.output.Response;
import dev.tenon.Model;
import dev.tenon.TextRequest;
import dev.tenon.api.chat.ChatReply;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A model that continues texts, without a template. Safe for any thread; it blocks the caller's.
public final class TenonLanguageModel implements LanguageModel {
    private final Model model;
    private final Consumer<TextRequest> how;

    private TenonLanguageModel(Builder builder) {
        model = Objects.requireNonNull(builder.model, "model");
        how = builder.how;
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    /// Continues a text. Blocks.
    ///
    /// @param prompt the text
    /// @return what follows it, counts and why it ended
    /// @throws dev.tenon.api.error.TenonException as [TextRequest#reply(dev.tenon.api.chat.ChatEvents)]
    @Override
    public Response<String> generate(String prompt) {
        TextRequest request = model.completion(prompt);
        how.accept(request);
        ChatReply reply = request.reply();
        return Response.from(reply.text(), ReplyEvents.usage(reply.usage()), ReplyEvents.finish(reply.end()));
    }

    /// Builds models. For one thread.
    public static final class Builder {
        private @Nullable Model model;
        private Consumer<TextRequest> how = request -> {};

        private Builder() {}

        /// Sets the model that continues texts.
        ///
        /// @param loaded the model, which stays the caller's to close
        /// @return this
        public Builder model(Model loaded) {
            model = Objects.requireNonNull(loaded, "model");
            return this;
        }

        /// Sets how it does: the most tokens, sampling, stop texts, a time limit.
        ///
        /// @param change called with each request, on the caller's thread; must not begin it
        /// @return this
        public Builder request(Consumer<TextRequest> change) {
            how = Objects.requireNonNull(change, "change");
            return this;
        }

        /// {@return the model}
        public TenonLanguageModel build() {
            return new TenonLanguageModel(this);
        }
    }
}
