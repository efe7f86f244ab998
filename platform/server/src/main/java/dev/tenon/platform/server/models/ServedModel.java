package dev.tenon.platform.server.models;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import dev.tenon.platform.server.queue.Admission;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// A model that requests can ask for; loaded when it is first needed. Safe for any thread.
public interface ServedModel {
    /// {@return its names and defaults}
    ModelSpec spec();

    /// {@return when it became known}
    Instant created();

    /// {@return which of its requests run}
    Admission admission();

    /// Loads the model, unless it is, and keeps it loaded until the lease is closed.
    ///
    /// @return the lease; the caller closes it
    /// @throws dev.tenon.api.error.TenonException if it cannot be loaded
    /// @throws InterruptedException if the thread is interrupted while another one loads it
    Lease lease() throws InterruptedException;

    /// Sets how long it stays loaded after its last request, from its next request on.
    ///
    /// @param time how long; zero unloads it at once, a negative time never
    void keepAlive(Duration time);

    /// {@return the model, if it is loaded now; only for looking at it}
    Optional<LoadedModel> loaded();

    /// {@return when it will be unloaded if nobody asks, if it is loaded and that is going to happen}
    Optional<Instant> expires();

    /// {@return size of its file in bytes; 0 if that is unknown}
    long bytes();

    /// A loaded model that is in use.
    interface Lease extends AutoCloseable {
        /// {@return the model}
        LoadedModel model();

        /// {@return its tokens, prepared for grammars when they are first needed}
        TokenVocabulary vocabulary();

        /// Releases it. Calling it twice does nothing.
        @Override
        void close();
    }
}
