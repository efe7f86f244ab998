package dev.tenon.api.text;

import java.util.Objects;

/// One turn of a conversation.
///
/// @param role `system`, `user`, `assistant` or `tool`; never null
/// @param content the text; never null
public record ChatMessage(String role, String content) {
    /// Checks that nothing is null.
    public ChatMessage {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(content, "content");
    }
}
