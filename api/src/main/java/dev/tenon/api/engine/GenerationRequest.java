package dev.tenon.api.engine;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenRules;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What to generate. Immutable; made by [#builder()].
public final class GenerationRequest {
    private final int[] prompt;
    private final List<PromptMedia> media;
    private final SamplingParams sampling;
    private final int maxNewTokens;
    private final List<String> stop;
    private final boolean ignoreEndOfGeneration;
    private final int logProbabilities;
    private final boolean sampledProbabilities;
    private final List<LogitsProcessor> processors;
    private final int priority;
    private final String group;
    private final int contextShift;
    private final @Nullable TokenConstraint constraint;
    private final @Nullable SamplerProvider sampler;
    private final TokenRules rules;

    private GenerationRequest(Builder builder) {
        this.prompt = builder.prompt.clone();
        this.media = builder.media;
        this.sampling = builder.sampling;
        this.maxNewTokens = builder.maxNewTokens;
        this.stop = builder.stop;
        this.ignoreEndOfGeneration = builder.ignoreEndOfGeneration;
        this.logProbabilities = builder.logProbabilities;
        this.sampledProbabilities = builder.sampledProbabilities;
        this.processors = builder.processors;
        this.priority = builder.priority;
        this.group = builder.group;
        this.contextShift = builder.contextShift;
        this.constraint = builder.constraint;
        this.sampler = builder.sampler;
        this.rules = builder.rules;
    }

    /// {@return a builder of a request with an empty prompt, the default sampling and no limit}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return a builder that begins with what this request says}
    public Builder toBuilder() {
        Builder copy = new Builder();
        copy.prompt = prompt;
        copy.media = media;
        copy.sampling = sampling;
        copy.maxNewTokens = maxNewTokens;
        copy.stop = stop;
        copy.ignoreEndOfGeneration = ignoreEndOfGeneration;
        copy.logProbabilities = logProbabilities;
        copy.sampledProbabilities = sampledProbabilities;
        copy.processors = processors;
        copy.priority = priority;
        copy.group = group;
        copy.contextShift = contextShift;
        copy.constraint = constraint;
        copy.sampler = sampler;
        copy.rules = rules;
        return copy;
    }

    /// {@return a request without stop texts}
    ///
    /// @param prompt token ids
    /// @param sampling how to sample tokens
    /// @param maxNewTokens most tokens to generate
    public static GenerationRequest of(int[] prompt, SamplingParams sampling, int maxNewTokens) {
        return builder()
                .prompt(prompt)
                .sampling(sampling)
                .maxNewTokens(maxNewTokens)
                .build();
    }

    /// {@return token ids to append first; at least one unless the session has tokens that were not
    ///     run yet}
    public int[] prompt() {
        return prompt.clone();
    }

    /// {@return what has the rows for which tokens of the prompt stand; unmodifiable}
    public List<PromptMedia> media() {
        return media;
    }

    /// {@return how to sample tokens}
    public SamplingParams sampling() {
        return sampling;
    }

    /// {@return most tokens to generate; -1 until the context is full}
    public int maxNewTokens() {
        return maxNewTokens;
    }

    /// {@return texts that end the generation and are not part of it; unmodifiable}
    public List<String> stop() {
        return stop;
    }

    /// {@return whether to go on after end-of-text tokens}
    public boolean ignoreEndOfGeneration() {
        return ignoreEndOfGeneration;
    }

    /// {@return how many of the most probable tokens each token comes with; 0 only its own
    ///     log-probability, -1 none}
    public int logProbabilities() {
        return logProbabilities;
    }

    /// {@return whether log-probabilities are those by which the sampler drew, after processors, constraint and
    ///     sampling; else those of the model}
    public boolean sampledProbabilities() {
        return sampledProbabilities;
    }

    /// {@return what changes the logits before sampling, in this order; unmodifiable}
    public List<LogitsProcessor> processors() {
        return processors;
    }

    /// {@return its priority; the prompt of a request of a higher one runs first, and the memory of one of a
    ///     lower one is taken first}
    public int priority() {
        return priority;
    }

    /// {@return whose request it is; the groups of a model take turns to run prompts, and share no computed
    ///     tokens}
    public String group() {
        return group;
    }

    /// {@return how many tokens stay at the beginning when the context is full and the generation goes on;
    ///     -1 if it ends there}
    public int contextShift() {
        return contextShift;
    }

    /// {@return a copy of what says which tokens may be sampled, if there is such}
    public Optional<TokenConstraint> constraint() {
        return Optional.ofNullable(constraint).map(TokenConstraint::copy);
    }

    /// {@return which tokens the reply may have, and which end it}
    public TokenRules rules() {
        return rules;
    }

    /// {@return what makes the sampler; empty for that of the platform}
    public Optional<SamplerProvider> sampler() {
        return Optional.ofNullable(sampler);
    }

    /// Builds requests. Not safe for several threads.
    public static final class Builder {
        private int[] prompt = {};
        private List<PromptMedia> media = List.of();
        private SamplingParams sampling = SamplingParams.defaults();
        private int maxNewTokens = -1;
        private List<String> stop = List.of();
        private boolean ignoreEndOfGeneration;
        private int logProbabilities = -1;
        private boolean sampledProbabilities;
        private List<LogitsProcessor> processors = List.of();
        private int priority;
        private String group = "";
        private int contextShift = -1;
        private @Nullable TokenConstraint constraint;
        private @Nullable SamplerProvider sampler;
        private TokenRules rules = TokenRules.NONE;

        private Builder() {}

        /// Sets the token ids to append first; none by default.
        ///
        /// @param tokens token ids; copied
        /// @return this
        public Builder prompt(int... tokens) {
            this.prompt = tokens.clone();
            return this;
        }

        /// Sets what has the rows for which [tokens below 0][PromptMedia#tokens] of the prompt stand; nothing by
        /// default.
        ///
        /// @param list pictures and sounds of the prompt; copied
        /// @return this
        public Builder media(List<PromptMedia> list) {
            this.media = List.copyOf(list);
            return this;
        }

        /// Sets how to sample tokens; [SamplingParams#defaults()] by default.
        ///
        /// @param params how
        /// @return this
        public Builder sampling(SamplingParams params) {
            this.sampling = Objects.requireNonNull(params, "sampling");
            return this;
        }

        /// Sets the most tokens to generate; -1, the default, generates until the context is full.
        ///
        /// @param tokens how many
        /// @return this
        public Builder maxNewTokens(int tokens) {
            this.maxNewTokens = tokens;
            return this;
        }

        /// Sets the texts that end the generation; none by default.
        ///
        /// @param texts the texts; copied
        /// @return this
        public Builder stop(List<String> texts) {
            this.stop = List.copyOf(texts);
            return this;
        }

        /// Sets whether to go on after end-of-text tokens; false by default.
        ///
        /// @param ignore whether
        /// @return this
        public Builder ignoreEndOfGeneration(boolean ignore) {
            this.ignoreEndOfGeneration = ignore;
            return this;
        }

        /// Asks for log-probabilities; -1, the default, for none.
        ///
        /// @param top how many of the most probable tokens each token comes with; 0 for only its
        ///     own
        /// @return this
        public Builder logProbabilities(int top) {
            this.logProbabilities = top;
            return this;
        }

        /// Sets whether log-probabilities are those by which the sampler drew; false by default.
        ///
        /// @param sampled whether; needs a sampler that [tells][dev.tenon.api.text.Sampler#probabilities]
        /// @return this
        public Builder sampledProbabilities(boolean sampled) {
            this.sampledProbabilities = sampled;
            return this;
        }

        /// Sets what changes the logits before sampling; nothing by default.
        ///
        /// @param list the processors, in the order of their calls; copied
        /// @return this
        public Builder processors(List<LogitsProcessor> list) {
            this.processors = List.copyOf(list);
            return this;
        }

        /// Sets the priority, 0 by default. Of the requests of a model, the prompts of those of a higher
        /// priority run first. When the KV cache is full, a request of a lower one waits and computes its
        /// tokens again later. Requests that generate share each step, whatever their priority.
        ///
        /// @param value higher runs first; may be negative
        /// @return this
        public Builder priority(int value) {
            this.priority = value;
            return this;
        }

        /// Sets whose request it is, such as a user's key; empty by default. Of requests of the same priority,
        /// the groups take turns to run prompts, so that one with many requests does not keep out the others;
        /// and tokens that were computed for a group are used for no other.
        ///
        /// @param name any text
        /// @return this
        public Builder group(String name) {
            this.group = Objects.requireNonNull(name, "group");
            return this;
        }

        /// Has the generation go on when the context is full: the first tokens of the session stay, half of
        /// those after them leave, oldest first, and the rest is run again. By default a full context ends
        /// the generation.
        ///
        /// What follows is what a session would generate that was given the remaining tokens: every layer
        /// sees them at their new positions, whatever states the model has. So a shift costs a prefill of
        /// half of the context. The prompt itself has to fit.
        ///
        /// @param keep how many tokens stay at the beginning, such as a system message, at least 2 fewer
        ///     than the context holds; -1, the default, to end where the context does
        /// @return this
        public Builder contextShift(int keep) {
            this.contextShift = keep;
            return this;
        }

        /// Sets what says which tokens may be sampled; nothing by default.
        ///
        /// @param rule where the reply begins in a grammar; copied; null for no constraint
        /// @return this
        public Builder constraint(@Nullable TokenConstraint rule) {
            this.constraint = rule == null ? null : rule.copy();
            return this;
        }

        /// Sets which tokens the reply may have, and which end it; all may come by default.
        ///
        /// @param which tokens of the model
        /// @return this
        public Builder rules(TokenRules which) {
            this.rules = Objects.requireNonNull(which, "rules");
            return this;
        }

        /// Sets what makes the sampler, from [#sampling(SamplingParams)]; by default the one that is used for
        /// all requests does.
        ///
        /// @param maker called once for each generation; null for the default
        /// @return this
        public Builder sampler(@Nullable SamplerProvider maker) {
            this.sampler = maker;
            return this;
        }

        /// {@return the request}
        ///
        /// @throws IllegalArgumentException if a number is out of its range
        public GenerationRequest build() {
            if (maxNewTokens < -1) {
                throw new IllegalArgumentException("maxNewTokens is " + maxNewTokens + "; expected -1 or more");
            }
            if (logProbabilities < -1) {
                throw new IllegalArgumentException("logProbabilities is " + logProbabilities + "; expected -1 or more");
            }
            if (contextShift < -1) {
                throw new IllegalArgumentException("contextShift is " + contextShift + "; expected -1 or more");
            }
            return new GenerationRequest(this);
        }
    }
}
