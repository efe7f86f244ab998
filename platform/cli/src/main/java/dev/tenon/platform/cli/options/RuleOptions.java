package dev.tenon.platform.cli.options;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.core.control.NamedRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/// Options that choose what bundles offer to steer a generation.
public final class RuleOptions {
    @Option(
            names = "--sampler",
            paramLabel = "ID[=ARG]",
            description = "Sample with this sampler of a bundle (default: that of all requests).")
    private String sampler;

    @Option(
            names = "--logits-processor",
            paramLabel = "ID[=ARG]",
            description = "Change the logits of each token by this processor of a bundle; may be repeated.")
    private List<String> processors = new ArrayList<>();

    @Option(
            names = "--constraint",
            paramLabel = "ID[=ARG]",
            description = "Generate only what this constraint of a bundle allows.")
    private String constraint;

    @Option(
            names = "--reasoning-budget",
            paramLabel = "N",
            description = "Most tokens that a model thinks before an answer; 0: none, -1: no limit (default: -1).")
    @Range(min = -1, max = Integer.MAX_VALUE)
    private int reasoningBudget = -1;

    @Option(
            names = "--reasoning-budget-message",
            paramLabel = "TEXT",
            description = "What stands at the end of thoughts that the budget ends.")
    private String reasoningMessage = "";

    /// {@return a conversation with a limit on reasoning, if one was given}
    ///
    /// @param request the conversation
    public ChatRequest limited(ChatRequest request) {
        ChatRequest.Builder limited =
                request.toBuilder().reasoningBudget(reasoningBudget).reasoningMessage(reasoningMessage);
        return reasoningBudget == 0
                ? limited.variables(Map.of("enable_thinking", false)).build()
                : limited.build();
    }

    /// {@return what makes the sampler; null for that of all requests}
    ///
    /// @param model what runs
    /// @param params how to sample
    /// @throws TenonException (`CLI-001`) if there is none of the name, or it refuses its argument
    public SamplerProvider sampler(LoadedModel model, SamplingParams params) {
        return sampler == null ? null : usage(() -> NamedRules.sampler(model, params, sampler));
    }

    /// {@return new processors for one generation}
    ///
    /// @param model what runs
    /// @throws TenonException (`CLI-001`) if there is none of a name, or it refuses its argument
    public List<LogitsProcessor> processors(LoadedModel model) {
        return usage(() -> NamedRules.processors(model, processors));
    }

    /// {@return a new constraint for one reply; null if there is none}
    ///
    /// @param model what runs
    /// @param grammar the constraint of a grammar; null without one
    /// @throws TenonException (`CLI-001`) if there is none of the name, it refuses its argument, or there are two
    public TokenConstraint constraint(LoadedModel model, TokenConstraint grammar) {
        if (constraint == null) {
            return grammar;
        }
        if (grammar != null) {
            throw new TenonException(
                    ErrorCode.USAGE, "A reply has one constraint: leave out --constraint or the grammar");
        }
        return usage(() -> NamedRules.constraint(model, constraint));
    }

    /// Makes all once.
    ///
    /// @param model what runs
    /// @param params how to sample
    /// @throws TenonException as above
    public void check(LoadedModel model, SamplingParams params) {
        sampler(model, params);
        processors(model);
        constraint(model, null);
    }

    private static <T> T usage(Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.USAGE, e.getMessage(), e);
        }
    }
}
