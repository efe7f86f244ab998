package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import dev.tenon.Model;
import dev.tenon.TextRequest;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What models that chat are built of. For one thread.
///
/// @param <B> the builder
public abstract sealed class TenonChatBuilder<B extends TenonChatBuilder<B>>
        permits TenonChatModel.Builder, TenonStreamingChatModel.Builder {
    private @Nullable Model model;
    private ChatRequestParameters parameters = DefaultChatRequestParameters.EMPTY;
    private List<ChatModelListener> listeners = List.of();
    private Consumer<TextRequest> how = request -> {};

    TenonChatBuilder() {}

    abstract B self();

    /// Sets the model that answers.
    ///
    /// @param loaded the model, which stays the caller's to close
    /// @return this
    public B model(Model loaded) {
        model = Objects.requireNonNull(loaded, "model");
        return self();
    }

    /// Sets parameters of requests that say nothing else; none by default.
    ///
    /// @param defaults theirs, or [TenonChatRequestParameters]
    /// @return this
    public B defaultRequestParameters(ChatRequestParameters defaults) {
        parameters = Objects.requireNonNull(defaults, "defaults");
        return self();
    }

    /// Sets who hears of requests, responses and errors; nobody by default.
    ///
    /// @param all the listeners; copied
    /// @return this
    public B listeners(List<ChatModelListener> all) {
        listeners = List.copyOf(all);
        return self();
    }

    /// Sets who hears of requests, responses and errors; nobody by default.
    ///
    /// @param all the listeners; copied
    /// @return this
    public B listeners(ChatModelListener... all) {
        return listeners(List.of(all));
    }

    /// Sets what LangChain4j's parameters have no words for: a time limit, variables of the template, adapters, the
    /// priority, a sampler.
    ///
    /// @param change called with each request before its parameters are set, on the caller's thread; must not
    ///     begin it
    /// @return this
    public B request(Consumer<TextRequest> change) {
        how = Objects.requireNonNull(change, "change");
        return self();
    }

    ChatSettings settings() {
        return new ChatSettings(Objects.requireNonNull(model, "model"), parameters, listeners, how);
    }
}
