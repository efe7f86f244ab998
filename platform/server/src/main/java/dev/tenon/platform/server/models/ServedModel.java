package dev.tenon.platform.server.models;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.server.queue.Admission;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/// A model that requests can ask for; loaded when it is first needed. Safe for any thread.
public interface ServedModel {
    /// {@return its names and defaults}
    ModelSpec spec();

    /// {@return when it became known}
    Instant created();

    /// {@return which of its requests run}
    Admission admission();

    /// {@return whether it is loaded at the start, and stays loaded unless someone unloads it}
    boolean pinned();

    /// {@return a permit for each sequence of the loaded model, which servers that share it take in turns; during a
    /// lease}
    Semaphore sequences();

    /// Loads the model, unless it is, and keeps it loaded until the lease is closed. Waits for another
    /// thread that loads it, and where it does not fit beside others that answer, until one of these
    /// may leave. A thread has one lease at a time: a second one could wait for the first.
    ///
    /// @return the lease; the caller closes it
    /// @throws dev.tenon.api.error.TenonException if it cannot be loaded
    /// @throws dev.tenon.platform.server.queue.QueueFullException if as many of its requests wait as may
    /// @throws InterruptedException if the thread is interrupted while it waits
    Lease lease() throws InterruptedException;

    /// Sets how long it stays loaded after its last request, until it is unloaded. A pinned model stays.
    ///
    /// @param time how long; zero unloads it with the end of its last request, a negative time never
    void keepAlive(Duration time);

    /// Unloads it, at once or with the end of its last request. The next one loads it again.
    ///
    /// @return whether it is not loaded any more
    boolean unload();

    /// {@return the model, if it is loaded now; only for looking at it}
    Optional<LoadedModel> loaded();

    /// {@return when it will be unloaded if nobody asks, if it is loaded and that is going to happen}
    Optional<Instant> expires();

    /// {@return the scales of the adapters that requests use which choose none, by name, 0 for others; null for those
    /// that it was loaded with}
    Map<String, Float> adapters();

    /// Sets those scales, until the model is not there any more or another server takes this one's place.
    ///
    /// @param scales by name; never changed
    void adapters(Map<String, Float> scales);

    /// {@return size of its files in bytes; 0 if that is unknown}
    long bytes();

    /// {@return memory that it takes while it is loaded: weights, KV cache and work memory; 0 while it is not}
    long memoryBytes();

    /// A loaded model that is in use.
    interface Lease extends AutoCloseable {
        /// {@return the model}
        LoadedModel model();

        /// {@return how it chats; what was prepared for that stays as long as it is loaded}
        ChatModel chat();

        /// Releases it. Calling it twice does nothing.
        @Override
        void close();
    }
}
