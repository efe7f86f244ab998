package dev.tenon.backend.nv.tegra.emulator.replay;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/// Executes a recorded stream again and compares.
public final class StreamReplay {
    private StreamReplay() {}

    /// Replays a stream that was recorded from the opening of a device on.
    ///
    /// @param in the stream; the caller closes it
    /// @param lines receives what was found
    /// @return whether every launch and every page was as recorded
    /// @throws IOException if it cannot be read
    public static boolean run(InputStream in, Consumer<String> lines) throws IOException {
        Replay.Outcome outcome = Replay.of(in);
        lines.accept(outcome.entries() + " ring entries, " + outcome.launches() + " launches, "
                + outcome.difference().orElse("all as recorded"));
        return outcome.difference().isEmpty();
    }
}
