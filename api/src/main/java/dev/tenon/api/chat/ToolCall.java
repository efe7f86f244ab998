package dev.tenon.api.chat;

import java.util.Objects;

/// The call of a tool by a model.
///
/// @param id what a result names the call by; empty if there is none; never null
/// @param name the tool; never null
/// @param arguments a JSON object as text; never null
public record ToolCall(String id, String name, String arguments) {
    /// Checks that nothing is null.
    public ToolCall {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(arguments, "arguments");
    }
}
