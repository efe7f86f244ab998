package dev.tenon.platform.server.models;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What holds for the requests of a model where they say nothing themselves. Immutable.
///
/// @param messages turns before those of a conversation, each with `role` and `content`; a system message comes first
/// @param options fields of sampling by the names of requests, also `num_predict`, `num_ctx` and `stop`; unmodifiable
/// @param keepAlive how long the model stays loaded after its last request; null for the server's value
/// @param license texts of licences
public record Preset(
        List<Map<String, Object>> messages, Map<String, Object> options, Duration keepAlive, List<String> license) {
    private static final String ROLE = "role";
    private static final String SYSTEM = "system";
    private static final Preset NONE = new Preset(List.of(), Map.of(), null, List.of());

    /// Copies.
    public Preset {
        messages = List.copyOf(messages);
        options = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(options));
        license = List.copyOf(license);
    }

    /// {@return a preset that changes nothing}
    public static Preset none() {
        return NONE;
    }

    /// {@return the text of the system message, or null}
    public String system() {
        return messages.isEmpty() || !SYSTEM.equals(messages.getFirst().get(ROLE))
                ? null
                : String.valueOf(messages.getFirst().get("content"));
    }

    /// {@return a conversation after the preset's own turns; its own system message takes the place of the preset's}
    ///
    /// @param conversation the turns of a request
    public List<Map<String, Object>> before(List<Map<String, Object>> conversation) {
        if (messages.isEmpty() || conversation.isEmpty()) {
            return conversation;
        }
        List<Map<String, Object>> own = new ArrayList<>(messages);
        List<Map<String, Object>> rest = new ArrayList<>(conversation);
        if (SYSTEM.equals(rest.getFirst().get(ROLE))) {
            own.removeIf(message -> SYSTEM.equals(message.get(ROLE)));
            own.addFirst(rest.removeFirst());
        }
        own.addAll(rest);
        return own;
    }

    /// {@return texts that end a reply}
    public List<String> stop() {
        return switch (options.get("stop")) {
            case String text -> List.of(text);
            case List<?> texts -> texts.stream().map(String::valueOf).toList();
            case null, default -> List.of();
        };
    }

    /// {@return most tokens of a reply; -1 until the context is full}
    public int maxTokens() {
        return options.get("num_predict") instanceof Number most ? Math.max(-1, most.intValue()) : -1;
    }

    /// {@return positions of a sequence; 0 for the server's value}
    public int contextLength() {
        return options.get("num_ctx") instanceof Number positions ? positions.intValue() : 0;
    }
}
