package dev.tenon.platform.server.fields;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.core.control.NamedRules;
import java.util.List;
import java.util.function.Supplier;

/// The fields that choose samplers, logits processors and constraints of bundles, as `ID` or `ID=ARGUMENT`.
public final class RuleFields {
    private static final String SAMPLER = "sampler";
    private static final String PROCESSORS = "logits_processors";
    private static final String CONSTRAINT = "constraint";
    private static final int MOST_PROCESSORS = 8;

    private RuleFields() {}

    /// {@return what makes the samplers of a request's replies; null if it names none}
    ///
    /// @param body the request
    /// @param model the model
    /// @param params how the replies are sampled
    /// @throws RequestException (400) if there is none of the name, or it refuses its argument
    public static SamplerProvider sampler(Body body, LoadedModel model, SamplingParams params) {
        if (!body.has(SAMPLER)) {
            return null;
        }
        String named = body.text(SAMPLER);
        return made(SAMPLER, () -> NamedRules.sampler(model, params, named));
    }

    /// {@return new processors of one reply}
    ///
    /// @param body the request
    /// @param model the model
    /// @throws RequestException (400) if there is none of a name, or it refuses its argument
    public static List<LogitsProcessor> processors(Body body, LoadedModel model) {
        List<String> named = body.texts(PROCESSORS, MOST_PROCESSORS);
        return made(PROCESSORS, () -> NamedRules.processors(model, named));
    }

    /// {@return the constraint of a request's replies; null if there is none}
    ///
    /// @param body the request
    /// @param model the model
    /// @param rule what the form of the replies demands; null if nothing does
    /// @throws RequestException (400) if there is none of the name, it refuses its argument, or there are two
    public static TokenConstraint constraint(Body body, LoadedModel model, TokenConstraint rule) {
        if (!body.has(CONSTRAINT)) {
            return rule;
        }
        if (rule != null) {
            throw RequestException.invalid(
                    CONSTRAINT, "A reply has one constraint: leave out constraint, or the format and the tools.");
        }
        String named = body.text(CONSTRAINT);
        return made(CONSTRAINT, () -> NamedRules.constraint(model, named));
    }

    private static <T> T made(String field, Supplier<T> rule) {
        try {
            return rule.get();
        } catch (IllegalArgumentException e) {
            throw RequestException.invalid(field, e.getMessage() + ".");
        }
    }
}
