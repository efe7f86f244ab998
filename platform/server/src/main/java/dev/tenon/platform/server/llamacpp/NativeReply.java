package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.ReplyListener;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.openai.Wire;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// The reply of `/completion`: an event for each part and one that ends it, or one object. For one thread at a time.
final class NativeReply implements ChoiceOutput {
    private static final double NANOS_PER_MILLI = 1e6;

    private final EventStream events;
    private final String model;
    private final boolean tokens;
    private final boolean keeps;
    private final boolean probabilities;
    private final boolean sampled;
    private final int index;
    private final StringBuilder text = new StringBuilder();
    private final List<GeneratedToken> all = new ArrayList<>();
    private ReplyListener listener;
    private GenerationRequest request;
    private Ending ending;

    /// @param exchange whose request it is
    /// @param index of the reply among those to the request
    /// @param model what the model is called
    /// @param stream whether parts are sent as they come
    /// @param body says what parts come with: token ids, log-probabilities, or probabilities after sampling
    NativeReply(Exchange exchange, int index, String model, boolean stream, Body body) {
        this.index = index;
        this.model = model;
        this.events = stream ? exchange.events() : null;
        this.tokens = body.flag("return_tokens", false);
        this.keeps = tokens || body.has("id_slot");
        this.probabilities = body.whole("n_probs", 0, Integer.MAX_VALUE, 0) > 0;
        this.sampled = body.flag("post_sampling_probs", false);
    }

    @Override
    public boolean keepsTokens() {
        return keeps;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void asks(GenerationRequest asked) {
        request = asked;
    }

    @Override
    public void reasoning(String part) {
        text(part);
    }

    @Override
    public void text(String part) {
        text.append(part);
        if (events != null) {
            events.send(withTokens(Json.object()
                    .put("index", index)
                    .put("content", part)
                    .put("stop", false)
                    .put("id_slot", 0)));
        }
    }

    @Override
    public void callBegins(int index, String id, String name) {
        throw new IllegalStateException("a plain text calls no tools");
    }

    @Override
    public void callArguments(int index, String json) {
        throw new IllegalStateException("a plain text calls no tools");
    }

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    /// Adds ids and log-probabilities of the tokens since the last part.
    private ObjectNode withTokens(ObjectNode part) {
        ArrayNode ids = part.putArray("tokens");
        List<GeneratedToken> taken = listener.takeTokens();
        all.addAll(taken);
        if (tokens) {
            taken.forEach(token -> ids.add(token.id()));
        }
        if (probabilities) {
            ArrayNode array = part.putArray("completion_probabilities");
            for (GeneratedToken token : taken) {
                ObjectNode entry = entry(array, token.id(), token.logProbability());
                ArrayNode top = entry.putArray(sampled ? "top_probs" : "top_logprobs");
                token.top().forEach(other -> entry(top, other.id(), other.logProbability()));
            }
        }
        return part;
    }

    private ObjectNode entry(ArrayNode array, int id, float logProbability) {
        Tokenizer tokenizer = listener.tokenizer();
        ObjectNode entry = array.addObject().put("id", id).put("token", Wire.text(tokenizer, id));
        ArrayNode bytes = entry.putArray("bytes");
        for (byte each : tokenizer.bytes(id)) {
            bytes.add(each & 0xFF);
        }
        return sampled
                ? entry.put("prob", Math.exp(logProbability))
                : entry.put("logprob", Wire.finite(logProbability));
    }

    /// {@return the tokens of a prompt and of the reply so far, as it was told}
    int[] after(int[] prompt) {
        return IntStream.concat(IntStream.of(prompt), all.stream().mapToInt(GeneratedToken::id))
                .toArray();
    }

    /// Ends the reply, in a stream with an event.
    ///
    /// @param prompt the prompt, if it was a text; else null
    /// @param context positions of the sequence
    /// @return the whole reply of a plain answer
    ObjectNode finish(String prompt, int context) {
        Usage usage = ending.usage();
        int read = usage.promptTokens() + usage.cachedTokens();
        boolean full = ending.reason() == ChatEnd.LENGTH && read + usage.generatedTokens() >= context;
        ObjectNode last = withTokens(
                        Json.object().put("index", index).put("content", events == null ? text.toString() : ""))
                .put("id_slot", 0)
                .put("stop", true)
                .put("model", model)
                .put("tokens_predicted", usage.generatedTokens())
                .put("tokens_evaluated", read)
                .put("prompt", prompt == null ? "" : prompt)
                .put("has_new_line", text.indexOf("\n") >= 0)
                .put("truncated", full)
                .put("stop_type", stopType())
                .put("stopping_word", ending.stopText() == null ? "" : ending.stopText())
                .put("tokens_cached", usage.cachedTokens());
        last.set("generation_settings", GenerationSettings.of(request, context));
        last.set("timings", timings(usage));
        if (events != null) {
            events.send(last);
        }
        return last;
    }

    private String stopType() {
        if (ending.reason() == ChatEnd.LENGTH) {
            return "limit";
        }
        return ending.stopText() == null ? "eos" : "word";
    }

    private static ObjectNode timings(Usage usage) {
        ObjectNode timings = Json.object().put("cache_n", usage.cachedTokens());
        timings(timings, "prompt", usage.promptTokens(), usage.prefillNanos());
        timings(timings, "predicted", usage.generatedTokens(), usage.decodeNanos());
        if (usage.draftedTokens() > 0) {
            timings.put("draft_n", usage.draftedTokens()).put("draft_n_accepted", usage.acceptedTokens());
        }
        return timings;
    }

    private static void timings(ObjectNode timings, String what, int tokens, long nanos) {
        timings.put(what + "_n", tokens)
                .put(what + "_ms", nanos / NANOS_PER_MILLI)
                .put(what + "_per_token_ms", tokens == 0 ? 0 : nanos / NANOS_PER_MILLI / tokens)
                .put(what + "_per_second", nanos == 0 ? 0 : tokens * 1e9 / nanos);
    }
}
