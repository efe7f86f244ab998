package dev.tenon;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What a model computed of a conversation, as a file of the engine's.
final class SavedState {
    private static final Logger LOG = LoggerFactory.getLogger(SavedState.class);

    private SavedState() {}

    /// Writes it, up to the first picture or sound. What the model's memory does not hold any more of the tokens is
    /// run again.
    static void write(Model model, int[] prompt, Path file) {
        int[] tokens = IntStream.of(prompt).takeWhile(token -> token >= 0).toArray();
        model.places().take(null);
        try (Session session = model.loaded().newSession();
                OutputFile to = OutputFile.open(file, true)) {
            if (tokens.length > 0) { // a reply without tokens, for which what was computed before is used
                session.generate(
                        GenerationRequest.builder()
                                .prompt(tokens)
                                .maxNewTokens(0)
                                .build(),
                        GenerationListener.ofTokens(token -> {}));
            }
            session.save(to.bytes());
            to.complete();
        } catch (IOException e) {
            throw OutputFile.failed(file, e);
        } finally {
            model.places().release();
        }
    }

    /// Reads it into an empty session, which stays empty where that does not go.
    static void restore(Model model, Session session, Path file) {
        try (InputStream from = Files.newInputStream(file)) {
            session.restore(from);
            session.adapters(model.adapters());
        } catch (IOException | TenonException e) {
            LOG.warn("{} is not used, the turns are run again: {}", file, e.toString());
        }
    }
}
