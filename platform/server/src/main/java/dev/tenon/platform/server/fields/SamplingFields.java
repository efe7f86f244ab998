package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.SamplingStage;
import dev.tenon.platform.core.control.SamplingNumber;
import dev.tenon.platform.server.http.Exchange;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The fields that say how tokens are sampled, of all end points that generate.
public final class SamplingFields {
    /// The fields.
    public static final FieldTable TABLE = FieldTable.of(
            Stream.of(SamplingNumber.values()).map(SamplingNumber::field).collect(Collectors.joining(" "))
                    + " repetition_penalty samplers(the steps and their order) dry_sequence_breakers seed"
                    + " logit_bias(ids or texts; −100 or false bans)"
                    + " ignore_eos(tokens that end a text are banned) min_tokens stop_token_ids bad_words"
                    + " allowed_token_ids post_sampling_probs(log-probabilities are those after sampling)"
                    + " priority(lower goes first)"
                    + " lora(id and scale of each adapter that is used, in their order from 0; else those with"
                    + " their own scales) sampler(of a bundle) logits_processors(of bundles) constraint(of a bundle)",
            "",
            Map.of());

    private static final String STAGES = "samplers";
    private static final String BREAKERS = "dry_sequence_breakers";
    private static final int MOST_STAGES = 16;
    private static final int MOST_BREAKERS = 64;
    private static final int MOST_BIASES = 1024;
    private static final int MOST_STOPS = 16;
    private static final int LONGEST_STOP = 1000;
    private static final float BANNED = -100;

    private SamplingFields() {}

    /// {@return how tokens are sampled, with a fixed seed}
    ///
    /// @param body the request
    /// @param standard what holds where it says nothing
    /// @param model has the vocabulary
    public static SamplingParams read(Body body, SamplingParams standard, LoadedModel model) {
        float repeat = body.number("repetition_penalty", 0.01, 100, standard.repeatPenalty());
        long random = ThreadLocalRandom.current().nextLong(1L << 31);
        long seed = body.whole("seed", Long.MIN_VALUE, Long.MAX_VALUE, random);
        SamplingParams own = standard.toBuilder().repeatPenalty(repeat).build();
        SamplingParams params = SamplingNumber.builder(own, number -> number(body, number, number.of(own)))
                .stages(stages(body, standard))
                .logitBias(biases(body, model))
                .seed(seed == -1 ? random : seed)
                .build();
        if (model == null) {
            return params;
        }
        List<String> breakers = body.has(BREAKERS) ? body.texts(BREAKERS, MOST_BREAKERS) : SamplingNumber.BREAKERS;
        return params.toBuilder()
                .dry(SamplingNumber.broken(params.dry(), breakers, model.tokenizer()))
                .build();
    }

    private static double number(Body body, SamplingNumber number, double otherwise) {
        if (number.isWhole()) {
            return body.whole(number.field(), (long) number.least(), (long) number.most(), (long) otherwise);
        }
        double value = body.number(number.field(), number.least(), number.most(), (float) otherwise);
        boolean mass = number == SamplingNumber.TOP_P || number == SamplingNumber.TYPICAL_P;
        return mass ? Math.max(value, Float.MIN_NORMAL) : value; // 0 is the least that keeps a token
    }

    private static List<SamplingStage> stages(Body body, SamplingParams standard) {
        if (!body.has(STAGES)) {
            return standard.stages();
        }
        try {
            return SamplingStage.of(body.texts(STAGES, MOST_STAGES));
        } catch (IllegalArgumentException e) {
            throw RequestException.invalid(STAGES, "samplers: " + Exchange.printable(e.getMessage()) + ".")
                    .because(e);
        }
    }

    /// Refuses values that requests cannot have, but for biases.
    ///
    /// @param body fields of sampling
    public static void requireValues(Body body) {
        read(body, SamplingParams.defaults(), null);
    }

    private static Map<Integer, Float> biases(Body body, LoadedModel model) {
        Map<Integer, Float> biases = new TreeMap<>();
        if (model != null && body.flag("ignore_eos", false)) {
            IntStream.range(0, model.config().vocabularySize())
                    .filter(model.tokenizer()::isEndOfGeneration)
                    .forEach(id -> biases.put(id, Float.NEGATIVE_INFINITY));
        }
        if (!body.has("logit_bias")) {
            return biases;
        }
        JsonNode given = body.node().get("logit_bias");
        if (given.size() > MOST_BIASES) {
            throw RequestException.tooMuch(
                    "logit_bias",
                    "too_many",
                    "logit_bias has " + given.size() + " entries; at most " + MOST_BIASES + ".");
        }
        if (given.isObject()) {
            given.properties().forEach(entry -> add(biases, body, model, entry.getKey(), entry.getValue()));
        } else if (given instanceof ArrayNode pairs) {
            for (JsonNode pair : pairs) {
                if (!pair.isArray() || pair.size() != 2) {
                    throw body.wrong("logit_bias", "an object, or pairs of token and bias");
                }
                add(biases, body, model, pair.get(0).asText(), pair.get(1));
            }
        } else {
            throw body.wrong("logit_bias", "an object, or pairs of token and bias");
        }
        return biases;
    }

    private static void add(Map<Integer, Float> biases, Body body, LoadedModel model, String token, JsonNode bias) {
        boolean ban = bias.isBoolean() && !bias.asBoolean();
        if (!ban && !(bias.isNumber() && Math.abs(bias.asDouble()) <= -BANNED)) {
            throw RequestException.invalid(
                    "logit_bias", "A bias in logit_bias is none; expected -100 to 100, or false.");
        }
        float value = ban || bias.asDouble() <= BANNED ? Float.NEGATIVE_INFINITY : (float) bias.asDouble();
        for (int id : ids(body, model, token)) {
            biases.put(id, value);
        }
    }

    /// The tokens that a key means: an id, or a text, each of whose tokens counts.
    private static int[] ids(Body body, LoadedModel model, String token) {
        if (!token.matches("\\d{1,9}")) {
            return model.tokenizer().encode(token, false, true);
        }
        int id = Integer.parseInt(token);
        if (id >= model.config().vocabularySize()) {
            throw RequestException.invalid(
                    "logit_bias",
                    "Token " + id + " in logit_bias is not one of the model's; expected 0 to "
                            + (model.config().vocabularySize() - 1) + ".");
        }
        return new int[] {id};
    }

    /// {@return the texts that end a reply}
    ///
    /// @param body the request
    /// @param name the field
    public static List<String> stops(Body body, String name) {
        List<String> stops = body.texts(name, MOST_STOPS);
        for (String stop : stops) {
            if (stop.isEmpty() || stop.length() > LONGEST_STOP) {
                throw RequestException.invalid(
                        name, "A text in " + name + " has " + stop.length() + " characters; expected 1 to 1000.");
            }
        }
        return stops;
    }

    /// {@return the priority of a request; as in vLLM, a smaller number in the request goes first}
    ///
    /// @param body the request
    public static int priority(Body body) {
        return (int) -body.whole("priority", -1000, 1000, 0);
    }
}
