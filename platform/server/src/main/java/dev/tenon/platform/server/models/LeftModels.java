package dev.tenon.platform.server.models;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.core.control.SharedModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Loaded models of the server whose place another one takes, until that one has taken or closed them. Changed by one
/// thread at a time.
final class LeftModels {
    private static final Logger LOG = LoggerFactory.getLogger(LeftModels.class);

    private final List<SharedModel> models;

    /// @param models each is closed once by whoever takes it, or by [#close()]
    LeftModels(List<SharedModel> models) {
        this.models = new CopyOnWriteArrayList<>(models);
    }

    boolean isEmpty() {
        return models.isEmpty();
    }

    /// {@return whether one was made of a file}
    boolean has(Path file) {
        return models.stream().anyMatch(each -> each.request().path().equals(file));
    }

    /// {@return the one that was loaded by a request, now the caller's, if there is one}
    Optional<SharedModel> take(LoadRequest request) {
        Optional<SharedModel> found =
                models.stream().filter(each -> each.request().equals(request)).findFirst();
        found.ifPresent(model -> {
            models.remove(model);
            LOG.info("Taking over {}", request.path());
        });
        return found;
    }

    /// Closes those that nobody took.
    void close() {
        models.forEach(SharedModel::close);
        models.clear();
    }
}
