package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenRules;
import dev.tenon.platform.core.control.NamedRules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// The fields that choose samplers, logits processors and constraints of bundles, as `ID` or `ID=ARGUMENT`.
public final class RuleFields {
    private static final String SAMPLER = "sampler";
    private static final String PROCESSORS = "logits_processors";
    private static final String CONSTRAINT = "constraint";
    private static final int MOST_PROCESSORS = 8;

    private static final int MOST_STOPS = 128;
    private static final int MOST_WORDS = 1024;
    private static final int MOST_TOKENS = 1 << 20;

    private RuleFields() {}

    /// {@return which tokens a request's replies may have, and which end them}
    ///
    /// @param body the request
    /// @param model the model
    /// @throws RequestException (400) if a token is none of the model's, or a word is empty
    public static TokenRules tokens(Body body, LoadedModel model) {
        List<List<Integer>> words = new ArrayList<>();
        for (String word : body.texts("bad_words", MOST_WORDS)) {
            if (word.isBlank()) {
                throw RequestException.invalid("bad_words", "A word in bad_words is blank; leave it out.");
            }
            // In the middle of a text words have a blank before them, which belongs to their first token.
            for (String form : List.of(word, " " + word.stripLeading())) {
                words.add(IntStream.of(model.tokenizer().encode(form, false, false))
                        .boxed()
                        .toList());
            }
        }
        return new TokenRules(
                (int) body.whole("min_tokens", 0, Integer.MAX_VALUE, 0),
                ids(body, "stop_token_ids", MOST_STOPS, model),
                words,
                ids(body, "allowed_token_ids", MOST_TOKENS, model));
    }

    private static Set<Integer> ids(Body body, String field, int most, LoadedModel model) {
        int size = model.config().vocabularySize();
        Set<Integer> ids = new HashSet<>();
        for (JsonNode id : body.array(field, most)) {
            if (!id.isIntegralNumber() || !id.canConvertToInt() || id.asInt() < 0 || id.asInt() >= size) {
                throw body.wrong(field, "token ids from 0 to " + (size - 1));
            }
            ids.add(id.asInt());
        }
        return ids;
    }

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
