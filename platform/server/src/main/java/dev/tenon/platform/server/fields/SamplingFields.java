package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.SamplingParams;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/// The fields that say how tokens are sampled, of all end points that generate.
public final class SamplingFields {
    /// The fields.
    public static final FieldTable TABLE = FieldTable.of(
            "temperature top_p top_k min_p typical_p repeat_penalty repetition_penalty repeat_last_n presence_penalty"
                    + " frequency_penalty seed logit_bias(ids or texts; −100 or false bans)"
                    + " ignore_eos(tokens that end a text are banned) priority(lower goes first)"
                    + " lora(id and scale of each adapter that is used, in their order from 0; else those with"
                    + " their own scales) sampler(of a bundle) logits_processors(of bundles) constraint(of a bundle)",
            "mirostat_tau mirostat_eta dry_base dry_allowed_length dry_penalty_last_n dry_sequence_breakers"
                    + " xtc_threshold dynatemp_exponent", // what switches them on is refused
            Map.ofEntries(
                    Map.entry("mirostat", "Leave it out."),
                    Map.entry("dry_multiplier", "Use repeat_penalty."),
                    Map.entry("xtc_probability", "Leave it out."),
                    Map.entry("top_n_sigma", "Use min_p."),
                    Map.entry("dynatemp_range", "Use temperature."),
                    Map.entry("samplers", "The order of the steps is fixed."),
                    Map.entry("min_tokens", "Use ignore_eos with a limit."),
                    Map.entry("stop_token_ids", "Use stop."),
                    Map.entry("bad_words", "Use logit_bias."),
                    Map.entry("allowed_token_ids", "Use logit_bias.")));

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
        return standard.toBuilder()
                .temperature(body.number("temperature", 0, 100, standard.temperature()))
                .topP(Math.max(body.number("top_p", 0, 1, standard.topP()), Float.MIN_NORMAL))
                .topK((int) Math.max(0, body.whole("top_k", -1, Integer.MAX_VALUE, standard.topK())))
                .minP(body.number("min_p", 0, 1, standard.minP()))
                .typicalP(Math.max(body.number("typical_p", 0, 1, standard.typicalP()), Float.MIN_NORMAL))
                .repeatPenalty(body.number("repeat_penalty", 0.01, 100, repeat))
                .repeatLastN((int) body.whole("repeat_last_n", -1, 1 << 20, standard.repeatLastN()))
                .presencePenalty(body.number("presence_penalty", -2, 2, standard.presencePenalty()))
                .frequencyPenalty(body.number("frequency_penalty", -2, 2, standard.frequencyPenalty()))
                .logitBias(biases(body, model))
                .seed(seed == -1 ? random : seed)
                .build();
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
