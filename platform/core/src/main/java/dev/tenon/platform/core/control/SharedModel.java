package dev.tenon.platform.core.control;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import java.util.concurrent.Semaphore;

/// A loaded model with several users, such as two versions of a server of which one takes the other's place. The last
/// one closes it. Safe for any thread.
public final class SharedModel implements AutoCloseable {
    private final LoadRequest request;
    private final LoadedModel model;
    private final Semaphore sequences;
    private int users = 1;

    /// Begins with one user.
    ///
    /// @param request how it was loaded
    /// @param model the model; closed by the last user
    public SharedModel(LoadRequest request, LoadedModel model) {
        this.request = request;
        this.model = model;
        this.sequences = new Semaphore(Math.max(1, request.maxSequences()), true);
    }

    /// {@return how it was loaded}
    public LoadRequest request() {
        return request;
    }

    /// {@return the model}
    public LoadedModel model() {
        return model;
    }

    /// {@return a permit for each sequence that the model was loaded for, given in the order of asking: whoever opens a
    /// session takes one before}
    public Semaphore sequences() {
        return sequences;
    }

    /// Adds a user.
    ///
    /// @return this, which the user closes once
    public synchronized SharedModel share() {
        if (users == 0) {
            throw new IllegalStateException("the model has been closed");
        }
        users++;
        return this;
    }

    /// Takes a user away. Called once by each.
    @Override
    public void close() {
        boolean last;
        synchronized (this) {
            users--;
            last = users == 0;
        }
        if (last) {
            model.close();
        }
    }
}
