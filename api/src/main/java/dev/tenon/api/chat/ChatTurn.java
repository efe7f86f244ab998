package dev.tenon.api.chat;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One turn of a conversation. Immutable.
///
/// The text has a [place][MediaPart#PLACE] where each of its pictures and sounds stands, in their order. Those that
/// find none stand before the text.
///
/// @param role [#SYSTEM], [#USER], [#ASSISTANT], [#TOOL], or another one that the model's template
///     knows; never null
/// @param text what it says; never null
/// @param reasoning what the model thought before it; null if that is not known
/// @param calls the calls that the assistant makes in it; never null; copied
/// @param callId id of the call whose result a tool's turn is; null for other turns, and where the order
///     of the results tells it
/// @param name who speaks, or which tool's result it is; null if that is not said
/// @param media its pictures and sounds, in the order of their places; never null; copied
public record ChatTurn(
        String role,
        String text,
        @Nullable String reasoning,
        List<ToolCall> calls,
        @Nullable String callId,
        @Nullable String name,
        List<MediaPart> media) {
    /// Says how the model is to behave.
    public static final String SYSTEM = "system";
    /// A person.
    public static final String USER = "user";
    /// The model.
    public static final String ASSISTANT = "assistant";
    /// The result of a call.
    public static final String TOOL = "tool";

    /// Checks and copies.
    public ChatTurn {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(text, "text");
        calls = List.copyOf(calls);
        media = List.copyOf(media);
    }

    /// {@return a turn of text alone}
    ///
    /// @param role whose
    /// @param text what it says
    public static ChatTurn of(String role, String text) {
        return new ChatTurn(role, text, null, List.of(), null, null, List.of());
    }

    /// {@return a turn that says how the model is to behave}
    ///
    /// @param text what it says
    public static ChatTurn system(String text) {
        return of(SYSTEM, text);
    }

    /// {@return a turn of the user}
    ///
    /// @param text what it says
    public static ChatTurn user(String text) {
        return of(USER, text);
    }

    /// {@return a turn of the model}
    ///
    /// @param text what it says
    /// @param calls the calls that it makes
    public static ChatTurn assistant(String text, ToolCall... calls) {
        return new ChatTurn(ASSISTANT, text, null, List.of(calls), null, null, List.of());
    }

    /// {@return the result of a call}
    ///
    /// @param call the call
    /// @param text what came of it
    public static ChatTurn result(ToolCall call, String text) {
        return new ChatTurn(TOOL, text, null, List.of(), call.id(), call.name(), List.of());
    }

    /// {@return the same turn with another text}
    ///
    /// @param other the text
    public ChatTurn withText(String other) {
        return new ChatTurn(role, other, reasoning, calls, callId, name, media);
    }
}
