package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.TextRequest;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.text.SamplingParams;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.observation.ChatModelObservationContext;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.chat.observation.ChatModelObservationDocumentation;
import org.springframework.ai.chat.observation.DefaultChatModelObservationConvention;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/// A model in this JVM that chats, for Spring AI. Safe for any thread.
///
/// An answer with an output schema satisfies it, whatever the model would write; a schema is told to
/// the model, too. Where there are tools besides, the reply calls some or is of the schema. Tools are
/// called by the `ToolCallingAdvisor` of a `ChatClient`. A finish reason is `STOP`, `LENGTH`,
/// `TOOL_CALLS` or `CANCELLED`. The native usage is [dev.tenon.api.engine.Usage].
public final class TenonChatModel implements ChatModel {
    /// Key in the metadata of a message: all that the model thought before its answer, with the end
    /// of the reply.
    public static final String REASONING = "reasoning";
    /// Key in the metadata of a streamed message: a part of what the model thinks.
    public static final String REASONING_PART = "reasoningContent";

    static final String PROVIDER = "tenon";
    private static final ChatModelObservationConvention CONVENTION = new DefaultChatModelObservationConvention();

    private final Model model;
    private final TenonChatOptions options;
    private final List<TenonRequestCustomizer> customizers;
    private final List<Consumer<FinishedGeneration>> listeners;
    private final ObservationRegistry observations;
    private final @Nullable ChatModelObservationConvention convention;

    private TenonChatModel(Builder builder) {
        model = builder.model;
        options = builder.options.with(ChatOptions.builder().model(model.name()).build());
        customizers = builder.customizers;
        listeners = builder.listeners;
        observations = builder.observations;
        convention = builder.convention;
    }

    /// {@return a builder}
    ///
    /// @param model the model, which stays the caller's to close
    public static Builder builder(Model model) {
        return new Builder(model);
    }

    /// Answers. Blocks. Interrupting the thread ends the answer with what there is of it.
    ///
    /// @param prompt messages, and options; of options for any model, what they set takes
    ///     the place of this one's
    /// @return the answer
    /// @throws IllegalArgumentException if the options ask for another model, a number is out of
    ///     its range, or a picture or sound has an address that is not `data:` or `file:`
    /// @throws dev.tenon.api.error.TenonException as [TextRequest#reply(dev.tenon.api.chat.ChatEvents)]
    @Override
    public ChatResponse call(Prompt prompt) {
        Prompt whole = complete(prompt);
        ChatModelObservationContext context = context(whole, false);
        return Objects.requireNonNull(observation(context).observe(() -> {
            Reply reply = new Reply(name(), part -> {}, this::tell);
            request(whole).reply(reply);
            ChatResponse response = reply.whole();
            context.setResponse(response);
            return response;
        }));
    }

    /// Answers in parts, on a thread of its own that waits while none is wanted. Cancelling the
    /// subscription ends the generation. The last part has the calls of tools, the finish reason and
    /// the usage.
    ///
    /// @param prompt as [#call(Prompt)]
    /// @return the parts; each subscription generates an answer. It fails as [#call(Prompt)] does
    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        return Flux.deferContextual(view -> {
            Prompt whole = complete(prompt);
            ChatModelObservationContext context = context(whole, true);
            Observation observation = observation(context)
                    .parentObservation(view.getOrDefault(ObservationThreadLocalAccessor.KEY, null))
                    .start();
            Flux<ChatResponse> parts = ReplyStream.of(
                            model, part -> request(whole).reply(new Reply(name(), part, this::tell)))
                    .doOnError(observation::error)
                    .doFinally(signal -> observation.stop())
                    .contextWrite(values -> values.put(ObservationThreadLocalAccessor.KEY, observation));
            return new MessageAggregator().aggregate(parts, context::setResponse);
        });
    }

    @Override
    public ChatOptions getOptions() {
        return options;
    }

    private String name() {
        return Objects.requireNonNull(options.getModel());
    }

    private void tell(FinishedGeneration generation) {
        listeners.forEach(listener -> listener.accept(generation));
    }

    /// {@return a prompt with our options}
    private Prompt complete(Prompt prompt) {
        ChatOptions given = prompt.getOptions();
        TenonChatOptions all = given instanceof TenonChatOptions ours ? ours : options.with(given);
        ModelNames.check(all.getModel(), name());
        return new Prompt(prompt.getInstructions(), all);
    }

    private static ChatModelObservationContext context(Prompt prompt, boolean streaming) {
        return ChatModelObservationContext.builder()
                .prompt(prompt)
                .provider(PROVIDER)
                .streaming(streaming)
                .build();
    }

    private Observation observation(ChatModelObservationContext context) {
        return ChatModelObservationDocumentation.CHAT_MODEL_OPERATION.observation(
                convention, CONVENTION, () -> context, observations);
    }

    private TextRequest request(Prompt prompt) {
        TenonChatOptions how = (TenonChatOptions) Objects.requireNonNull(prompt.getOptions());
        TextRequest request = model.request(Conversation.of(prompt.getInstructions(), how));
        set(how.getMaxTokens(), request::maxNewTokens);
        set(how.getStopSequences(), stop -> request.stop(stop.toArray(String[]::new)));
        request.sampling(sampling -> sample(sampling, how));
        customizers.forEach(customizer -> customizer.customize(request));
        return request;
    }

    private static SamplingParams.Builder sample(SamplingParams.Builder sampling, TenonChatOptions how) {
        set(how.getTemperature(), value -> sampling.temperature(value.floatValue()));
        set(how.getTopP(), value -> sampling.topP(value.floatValue()));
        set(how.getTopK(), sampling::topK);
        set(how.getFrequencyPenalty(), value -> sampling.frequencyPenalty(value.floatValue()));
        set(how.getPresencePenalty(), value -> sampling.presencePenalty(value.floatValue()));
        set(how.getSeed(), sampling::seed);
        set(how.getMinP(), value -> sampling.minP(value.floatValue()));
        set(how.getRepeatPenalty(), value -> sampling.repeatPenalty(value.floatValue()));
        return sampling;
    }

    private static <T> void set(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    /// Builds models. For one thread.
    public static final class Builder {
        private final Model model;
        private TenonChatOptions options = TenonChatOptions.builder().build();
        private List<TenonRequestCustomizer> customizers = List.of();
        private List<Consumer<FinishedGeneration>> listeners = List.of();
        private ObservationRegistry observations = ObservationRegistry.NOOP;
        private @Nullable ChatModelObservationConvention convention;

        private Builder(Model model) {
            this.model = model;
        }

        /// Sets the options of prompts that set nothing else; none by default.
        ///
        /// @param defaults the options
        /// @return this
        public Builder options(TenonChatOptions defaults) {
            options = defaults;
            return this;
        }

        /// Sets what changes requests before they run; nothing by default.
        ///
        /// @param list called in this order; copied
        /// @return this
        public Builder customizers(List<TenonRequestCustomizer> list) {
            customizers = List.copyOf(list);
            return this;
        }

        /// Sets who hears of each answer that came to its end; nobody by default.
        ///
        /// @param list called on the thread that generates; copied
        /// @return this
        public Builder listeners(List<Consumer<FinishedGeneration>> list) {
            listeners = List.copyOf(list);
            return this;
        }

        /// Sets who observes; nobody by default.
        ///
        /// @param registry the registry
        /// @param names names of observations and their tags; null for Spring AI's own
        /// @return this
        public Builder observations(ObservationRegistry registry, @Nullable ChatModelObservationConvention names) {
            observations = registry;
            convention = names;
            return this;
        }

        /// {@return the model}
        ///
        /// @throws IllegalArgumentException if the options name another model
        public TenonChatModel build() {
            ModelNames.check(options.getModel(), model.name());
            return new TenonChatModel(this);
        }
    }
}
