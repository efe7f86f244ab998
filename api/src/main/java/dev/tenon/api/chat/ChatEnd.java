package dev.tenon.api.chat;

import dev.tenon.api.engine.FinishReason;

/// Why a reply ended.
public enum ChatEnd {
    /// The model ended it, or a stop text came.
    STOP,
    /// It reached its limit, or the context is full.
    LENGTH,
    /// It calls tools.
    CALLS,
    /// It was cancelled.
    CANCELLED;

    /// {@return why a reply ended}
    ///
    /// @param finish why its generation did
    /// @param calls whole calls of tools in it; at a limit another one may be cut
    public static ChatEnd of(FinishReason finish, int calls) {
        return switch (finish) {
            case LENGTH -> LENGTH;
            case CANCELLED -> CANCELLED;
            default -> calls > 0 ? CALLS : STOP;
        };
    }
}
