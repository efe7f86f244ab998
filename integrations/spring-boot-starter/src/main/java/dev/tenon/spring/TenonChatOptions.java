package dev.tenon.spring;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.DefaultToolCallingChatOptions;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/// How a [TenonChatModel] answers: what all models know, and what only these do. Immutable. What is
/// not set is as [dev.tenon.api.text.SamplingParams] has it.
public final class TenonChatOptions extends DefaultToolCallingChatOptions implements StructuredOutputChatOptions {
    private final @Nullable Long seed;
    private final @Nullable Double minP;
    private final @Nullable Double repeatPenalty;
    private final @Nullable String outputSchema;
    private final Map<String, Object> variables;

    private TenonChatOptions(ToolCallingChatOptions common, Builder builder) {
        super(
                common.getToolCallbacks(),
                common.getToolContext(),
                common.getModel(),
                common.getFrequencyPenalty(),
                common.getMaxTokens(),
                common.getPresencePenalty(),
                common.getStopSequences(),
                common.getTemperature(),
                common.getTopK(),
                common.getTopP());
        seed = builder.seed;
        minP = builder.minP;
        repeatPenalty = builder.repeatPenalty;
        outputSchema = builder.outputSchema;
        variables = Map.copyOf(builder.variables);
    }

    /// {@return a builder of options of which none is set}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return the start of the random sequence; null for a random one}
    public @Nullable Long getSeed() {
        return seed;
    }

    /// {@return the share of the best token's probability below which tokens are dropped, 0 to 1}
    public @Nullable Double getMinP() {
        return minP;
    }

    /// {@return what divides the logits of recent tokens; 1 changes nothing}
    public @Nullable Double getRepeatPenalty() {
        return repeatPenalty;
    }

    /// {@return JSON Schema of the answer, which satisfies it}
    @Override
    public @Nullable String getOutputSchema() {
        return outputSchema;
    }

    /// {@return variables of the model's template; unmodifiable}
    public Map<String, Object> getVariables() {
        return variables;
    }

    @Override
    public Builder mutate() {
        Builder builder = new Builder()
                .model(getModel())
                .frequencyPenalty(getFrequencyPenalty())
                .maxTokens(getMaxTokens())
                .presencePenalty(getPresencePenalty())
                .stopSequences(getStopSequences())
                .temperature(getTemperature())
                .topK(getTopK())
                .topP(getTopP())
                .toolCallbacks(getToolCallbacks())
                .toolContext(getToolContext())
                .seed(seed)
                .minP(minP)
                .repeatPenalty(repeatPenalty)
                .outputSchema(outputSchema);
        builder.variables.putAll(variables);
        return builder;
    }

    /// {@return these options, but for what others set}
    ///
    /// @param others options of any model; null for none
    TenonChatOptions with(@Nullable ChatOptions others) {
        if (others == null) {
            return this;
        }
        Builder builder = mutate().combineWith(others.mutate());
        if (others instanceof StructuredOutputChatOptions structured && structured.getOutputSchema() != null) {
            builder.outputSchema(structured.getOutputSchema());
        }
        return builder.build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return super.equals(other)
                && other instanceof TenonChatOptions that
                && Objects.equals(seed, that.seed)
                && Objects.equals(minP, that.minP)
                && Objects.equals(repeatPenalty, that.repeatPenalty)
                && Objects.equals(outputSchema, that.outputSchema)
                && variables.equals(that.variables);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), seed, minP, repeatPenalty, outputSchema, variables);
    }

    /// Builds options. For one thread.
    public static final class Builder extends DefaultToolCallingChatOptions.Builder<Builder>
            implements StructuredOutputChatOptions.Builder<Builder> {
        private @Nullable Long seed;
        private @Nullable Double minP;
        private @Nullable Double repeatPenalty;
        private @Nullable String outputSchema;
        private Map<String, Object> variables = new HashMap<>();

        private Builder() {}

        /// Sets the start of the random sequence: the same seed gives the same text.
        ///
        /// @param value the seed; null or -1 for a random one
        /// @return this
        public Builder seed(@Nullable Long value) {
            seed = value;
            return this;
        }

        /// Sets the share of the best token's probability below which tokens are dropped; 0.05 by
        /// default.
        ///
        /// @param share 0 to 1; 0 keeps all
        /// @return this
        public Builder minP(@Nullable Double share) {
            minP = share;
            return this;
        }

        /// Sets what divides (multiplies, if negative) the logits of recent tokens; 1 by default.
        ///
        /// @param penalty above 0
        /// @return this
        public Builder repeatPenalty(@Nullable Double penalty) {
            repeatPenalty = penalty;
            return this;
        }

        /// Sets what the answer has to be.
        ///
        /// @param schema JSON Schema as text; null for any text
        /// @return this
        @Override
        public Builder outputSchema(@Nullable String schema) {
            outputSchema = schema;
            return this;
        }

        /// Sets a variable of the model's template, such as `enable_thinking`.
        ///
        /// @param name its name
        /// @param value a text, number or boolean, or lists and maps of them
        /// @return this
        public Builder variable(String name, Object value) {
            variables.put(name, value);
            return this;
        }

        @Override
        public Builder clone() {
            Builder copy = super.clone();
            copy.variables = new HashMap<>(variables);
            return copy;
        }

        @Override
        public Builder combineWith(ChatOptions.Builder<?> other) {
            super.combineWith(other);
            if (other instanceof Builder that) {
                seed = that.seed == null ? seed : that.seed;
                minP = that.minP == null ? minP : that.minP;
                repeatPenalty = that.repeatPenalty == null ? repeatPenalty : that.repeatPenalty;
                outputSchema = that.outputSchema == null ? outputSchema : that.outputSchema;
                variables.putAll(that.variables);
            }
            return this;
        }

        @Override
        public TenonChatOptions build() {
            return new TenonChatOptions(super.build(), this);
        }
    }
}
