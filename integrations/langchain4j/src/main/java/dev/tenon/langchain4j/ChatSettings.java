package dev.tenon.langchain4j;

import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.tenon.Model;
import dev.tenon.TextRequest;
import dev.tenon.api.text.SamplingParams;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a model that chats was built of, and how its requests are made.
///
/// @param model the model
/// @param defaults parameters of requests that say nothing else
/// @param listeners who hears of requests
/// @param how what else requests get
record ChatSettings(
        Model model, ChatRequestParameters defaults, List<ChatModelListener> listeners, Consumer<TextRequest> how) {
    static final Set<Capability> CAPABILITIES = Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA);

    ChatSettings {
        checkName(model, defaults);
    }

    /// {@return what the model is called}
    String modelName() {
        return model.name();
    }

    private static void checkName(Model model, ChatRequestParameters parameters) {
        String asked = parameters.modelName();
        if (asked != null && !asked.equals(model.name())) {
            throw new UnsupportedFeatureException("modelName is '" + asked + "', which is not supported: this is '"
                    + model.name() + "' alone. Leave it out, or load that model.");
        }
    }

    /// {@return a request that was not begun}
    ///
    /// @param request what they ask for
    /// @throws UnsupportedFeatureException if that cannot be had
    TextRequest request(ChatRequest request) {
        ChatRequestParameters parameters = request.parameters();
        checkName(model, parameters);
        TextRequest text = model.request(new Conversation(model).of(request));
        how.accept(text);
        set(parameters.maxOutputTokens(), text::maxNewTokens);
        if (!parameters.stopSequences().isEmpty()) {
            text.stop(parameters.stopSequences().toArray(String[]::new));
        }
        return text.sampling(sampling -> sample(sampling, parameters));
    }

    private static SamplingParams.Builder sample(SamplingParams.Builder sampling, ChatRequestParameters parameters) {
        set(parameters.temperature(), value -> sampling.temperature(value.floatValue()));
        set(parameters.topP(), value -> sampling.topP(value.floatValue()));
        set(parameters.topK(), sampling::topK);
        set(parameters.frequencyPenalty(), value -> sampling.frequencyPenalty(value.floatValue()));
        set(parameters.presencePenalty(), value -> sampling.presencePenalty(value.floatValue()));
        if (parameters instanceof TenonChatRequestParameters ours) {
            set(ours.seed(), sampling::seed);
            set(ours.minP(), value -> sampling.minP(value.floatValue()));
            set(ours.repeatPenalty(), value -> sampling.repeatPenalty(value.floatValue()));
        }
        return sampling;
    }

    private static <T> void set(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }
}
