package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/// The file in which `run` keeps its session, so that the next run with a prompt that begins alike runs only what is
/// new.
final class KeptSession {
    private final Path file;
    private final Path[] inputs;

    /// @param file the file; null for none
    /// @param inputs other files that the command reads
    /// @throws TenonException (`IO-001`) if it cannot be written
    KeptSession(Path file, Path... inputs) {
        this.file = file;
        this.inputs = inputs;
        if (file != null) {
            OutputFile.check(file, true, inputs);
        }
    }

    /// Restores a session, if one is kept, and shortens it to the beginning that it has in common with a prompt.
    ///
    /// @param session an empty one
    /// @param prompt the tokens of the prompt
    /// @return those of them that have to be appended; at least the last one
    /// @throws TenonException (`STATE-005`) if what is kept is damaged, or of another model
    int[] restore(Session session, int... prompt) {
        if (file == null || !Files.exists(file)) {
            return prompt;
        }
        try (InputStream bytes = Files.newInputStream(file)) {
            session.restore(bytes);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, file + " cannot be read: " + e + ". Check it, or give another --session.", e);
        }
        int same = Arrays.mismatch(session.tokens(), prompt);
        int kept = Math.min(same < 0 ? prompt.length : same, prompt.length - 1);
        session.truncate(Math.max(0, kept));
        return Arrays.copyOfRange(prompt, Math.max(0, kept), prompt.length);
    }

    /// Keeps a session, in place of the one before.
    ///
    /// @throws TenonException (`IO-001`) if it cannot be written
    void keep(Session session) {
        if (file == null) {
            return;
        }
        try (OutputFile to = OutputFile.open(file, true, inputs)) {
            session.save(to.bytes());
            to.complete();
        } catch (IOException e) {
            throw OutputFile.failed(file, e);
        }
    }
}
