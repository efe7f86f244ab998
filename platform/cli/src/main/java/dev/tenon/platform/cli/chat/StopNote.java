package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import java.util.List;
import java.util.Optional;

/// Why a text stopped, where that is not its end.
final class StopNote {
    private StopNote() {}

    /// {@return whether a generation ended because the context is full}
    ///
    /// @param usage what was counted
    /// @param limit most tokens that were wanted; -1 for no limit
    static boolean contextFull(Usage usage, int limit) {
        return usage.finish() == FinishReason.LENGTH && (limit < 0 || usage.generatedTokens() < limit);
    }

    /// {@return one line that says why a text stopped; nothing at its end and after Ctrl-C}
    ///
    /// @param usage what was counted
    /// @param limit most tokens that were wanted; -1 for no limit
    /// @param context tokens that the context holds
    /// @param stop texts to stop at
    /// @param heard how many tokens were reported, without one that ends the text
    static Optional<String> of(Usage usage, int limit, int context, List<String> stop, int heard) {
        if (contextFull(usage, limit)) {
            return Optional.of("(stopped: the context of " + context + " tokens is full; -c sets its size)");
        }
        if (usage.finish() == FinishReason.LENGTH && limit > 0) {
            return Optional.of("(stopped: the limit of " + limit + " tokens is reached; -n sets it)");
        }
        return usage.finish() == FinishReason.STOP && !stop.isEmpty() && heard == usage.generatedTokens()
                ? Optional.of("(stopped at a stop text: " + String.join(", ", stop) + ")")
                : Optional.empty();
    }
}
