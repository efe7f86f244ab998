package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.Replies;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/// Parts that answers of several end points have.
public final class Wire {
    private Wire() {}

    /// {@return a new id}
    ///
    /// @param prefix what it begins with, such as `chatcmpl-`
    static String id(String prefix) {
        return prefix + UUID.randomUUID().toString().replace("-", "");
    }

    /// {@return the head of an answer}
    ///
    /// @param id its id
    /// @param kind value of `object`
    /// @param created seconds since 1970
    /// @param model name of the model
    static ObjectNode head(String id, String kind, long created, String model) {
        return Json.object()
                .put("id", id)
                .put("object", kind)
                .put("created", created)
                .put("model", model);
    }

    /// {@return counts}
    static ObjectNode usage(Replies.Counts counts) {
        ObjectNode usage = Json.object()
                .put("prompt_tokens", counts.prompt())
                .put("completion_tokens", counts.generated())
                .put("total_tokens", counts.prompt() + counts.generated());
        usage.putObject("prompt_tokens_details").put("cached_tokens", counts.cached());
        return usage;
    }

    /// {@return value of `finish_reason`}
    static String reason(ChatEnd reason) {
        return switch (reason) {
            case STOP, CANCELLED -> "stop";
            case LENGTH -> "length";
            case CALLS -> "tool_calls";
        };
    }

    /// {@return log-probabilities of tokens, as chat/completions has them}
    ///
    /// @param tokenizer of the model
    /// @param tokens the tokens
    public static ObjectNode logProbabilities(Tokenizer tokenizer, List<GeneratedToken> tokens) {
        ObjectNode node = Json.object();
        ArrayNode content = node.putArray("content");
        for (GeneratedToken token : tokens) {
            ObjectNode entry = content.addObject();
            entry(entry, tokenizer, token.id(), token.logProbability());
            ArrayNode top = entry.putArray("top_logprobs");
            token.top().forEach(other -> entry(top.addObject(), tokenizer, other.id(), other.logProbability()));
        }
        node.putNull("refusal");
        return node;
    }

    private static void entry(ObjectNode node, Tokenizer tokenizer, int id, float logProbability) {
        byte[] bytes = tokenizer.bytes(id);
        node.put("token", text(tokenizer, id)).put("logprob", finite(logProbability));
        ArrayNode array = node.putArray("bytes");
        for (byte b : bytes) {
            array.add(b & 0xFF);
        }
    }

    /// {@return the text of a token; of a control token its name}
    ///
    /// @param tokenizer of the model
    /// @param id the token
    public static String text(Tokenizer tokenizer, int id) {
        byte[] bytes = tokenizer.bytes(id);
        return bytes.length == 0 ? tokenizer.piece(id) : new String(bytes, StandardCharsets.UTF_8);
    }

    /// {@return a number that JSON can write: what is impossible becomes very improbable, as OpenAI does it}
    ///
    /// @param logProbability a log-probability
    public static float finite(float logProbability) {
        return Float.isFinite(logProbability) ? logProbability : -9999;
    }
}
