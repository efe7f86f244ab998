package dev.tenon.platform.server.models;

import dev.tenon.api.chat.ChatTurn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What holds for the requests of a model where they say nothing themselves. Immutable.
///
/// @param messages turns before those of a conversation, a system message comes first
/// @param options fields of sampling by the names of requests, also `num_predict`, `num_ctx` and `stop`; unmodifiable
/// @param keepAlive how long the model stays loaded after its last request; null for the server's value
/// @param license texts of licences
public record Preset(List<ChatTurn> messages, Map<String, Object> options, Duration keepAlive, List<String> license) {
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
        return messages.isEmpty() || !isSystem(messages.getFirst())
                ? null
                : messages.getFirst().text();
    }

    /// {@return a conversation after the preset's own turns; its own system message takes the place of the preset's}
    ///
    /// @param conversation the turns of a request
    public List<ChatTurn> before(List<ChatTurn> conversation) {
        if (messages.isEmpty() || conversation.isEmpty()) {
            return conversation;
        }
        List<ChatTurn> own = new ArrayList<>(messages);
        List<ChatTurn> rest = new ArrayList<>(conversation);
        if (isSystem(rest.getFirst())) {
            own.removeIf(Preset::isSystem);
            own.addFirst(rest.removeFirst());
        }
        own.addAll(rest);
        return own;
    }

    private static boolean isSystem(ChatTurn turn) {
        return turn.role().equals(ChatTurn.SYSTEM);
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
