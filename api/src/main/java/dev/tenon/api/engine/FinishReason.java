package dev.tenon.api.engine;

/// Why a generation ended.
public enum FinishReason {
    /// The model ended its text, or a stop string came.
    STOP,
    /// The token limit or the end of the context was reached.
    LENGTH,
    /// It was cancelled, by [Session#cancel()], [Generation#cancel()] or its subscription.
    CANCELLED
}
