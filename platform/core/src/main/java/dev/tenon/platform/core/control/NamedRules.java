package dev.tenon.platform.core.control;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/// The samplers, logits processors, constraints and proposers of bundles, by what a request or setting says: `ID` or
/// `ID=ARGUMENT`.
public final class NamedRules {
    private NamedRules() {}

    /// Makes the processors of one generation.
    ///
    /// @param model the model
    /// @param named what the request says, in the order of the calls
    /// @return new processors
    /// @throws IllegalArgumentException if there is none of a name, or it refuses its argument; the message is for
    ///     whoever made the request
    public static List<LogitsProcessor> processors(LoadedModel model, List<String> named) {
        return named.stream()
                .map(each -> make(
                        model,
                        LogitsProcessorProvider.class,
                        "logits processor",
                        each,
                        (provider, argument) -> provider.create(argument, model.tokenizer())))
                .toList();
    }

    /// Makes the constraint of one reply.
    ///
    /// @param model the model
    /// @param named what the request says
    /// @return a new constraint
    /// @throws IllegalArgumentException as above
    public static TokenConstraint constraint(LoadedModel model, String named) {
        return make(
                model,
                ConstraintProvider.class,
                "constraint",
                named,
                (provider, argument) -> provider.create(argument, model.tokenizer()));
    }

    /// Finds what makes the sampler of a generation, and makes one to see whether it takes its argument.
    ///
    /// @param model the model
    /// @param params how the generation samples
    /// @param named what the request says
    /// @return makes samplers with that argument
    /// @throws IllegalArgumentException as above
    public static SamplerProvider sampler(LoadedModel model, SamplingParams params, String named) {
        return make(model, SamplerProvider.class, "sampler", named, (provider, argument) -> {
            SamplerProvider told = (how, size) -> provider.create(how, size, argument, model.tokenizer());
            told.create(params, model.config().vocabularySize());
            return told;
        });
    }

    /// Makes the proposer of one session.
    ///
    /// @param model the model
    /// @param named what the setting says
    /// @return a new proposer
    /// @throws IllegalArgumentException as above
    public static TokenProposer proposer(LoadedModel model, String named) {
        return make(
                model,
                TokenProposerProvider.class,
                "proposer of tokens",
                named,
                (provider, argument) -> provider.create(argument, model.tokenizer()));
    }

    private static <S, T> T make(
            LoadedModel model, Class<S> type, String what, String named, BiFunction<S, String, T> create) {
        int end = named.indexOf('=');
        String id = end < 0 ? named : named.substring(0, end);
        Optional<S> provider =
                model instanceof ScheduledModel scheduled ? scheduled.service(type, id) : Optional.empty();
        if (provider.isEmpty()) {
            List<String> ids = model instanceof ScheduledModel scheduled ? scheduled.ids(type) : List.of();
            throw new IllegalArgumentException("There is no " + what + " '" + id + "'; "
                    + (ids.isEmpty() ? "no bundle offers any" : "there are " + String.join(", ", ids)));
        }
        try {
            return create.apply(provider.get(), end < 0 ? "" : named.substring(end + 1));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The " + what + " '" + id + "' refuses its argument: " + e.getMessage(), e);
        }
    }
}
