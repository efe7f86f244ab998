package dev.tenon.platform.server.models;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Loads models when they are asked for, and unloads those that were not for long, or whose memory others need. Safe
/// for
/// any thread.
public final class ModelHost implements ModelCatalog, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ModelHost.class);

    private final Engine engine;
    private final ModelLimits limits;
    private final Supplier<List<ModelSpec>> folder;
    private final List<HostedModel> models = new ArrayList<>();
    private boolean closed;

    /// Creates a host without loaded models.
    ///
    /// @param engine loads them; not closed
    /// @param limits how they are loaded and kept
    /// @param pinned models that are never unloaded, the standard one first
    /// @param folder finds further models, again at each look
    public ModelHost(Engine engine, ModelLimits limits, List<ModelSpec> pinned, Supplier<List<ModelSpec>> folder) {
        this.engine = engine;
        this.limits = limits;
        this.folder = folder;
        pinned.forEach(spec -> models.add(new HostedModel(this, spec, limits, true)));
    }

    /// {@return a description with the server's own values}
    LoadedModel load(ModelSpec spec) {
        LoadRequest.Builder request = spec.request().toBuilder().maxSequences(limits.parallel());
        if (limits.context() > 0) {
            request.contextLength(limits.context());
        }
        Function<String[], LoadedModel> with =
                outputs -> engine.load(request.outputs(outputs).build());
        LOG.info("Loading {}", spec.name());
        return Outputs.load(spec.request().path(), limits.embeddings(), with);
    }

    /// Loads the pinned models.
    ///
    /// @throws TenonException if one cannot be loaded
    /// @throws InterruptedException if the thread is interrupted
    public void loadPinned() throws InterruptedException {
        for (HostedModel model : snapshot()) {
            if (model.pinned()) {
                model.lease().close();
            }
        }
    }

    private synchronized List<HostedModel> snapshot() {
        return List.copyOf(models);
    }

    private synchronized void look() {
        for (ModelSpec spec : folder.get()) {
            if (models.stream().noneMatch(model -> model.isCalled(spec.name()))) {
                models.add(new HostedModel(this, spec, limits, false));
            }
        }
    }

    @Override
    public List<ServedModel> list() {
        look();
        return List.copyOf(snapshot());
    }

    @Override
    public Optional<ServedModel> find(String name) {
        Optional<ServedModel> known = named(name);
        if (known.isPresent()) {
            return known;
        }
        look();
        return named(name);
    }

    private Optional<ServedModel> named(String name) {
        return snapshot().stream()
                .filter(model -> model.isCalled(name))
                .map(ServedModel.class::cast)
                .findFirst();
    }

    @Override
    public Optional<ServedModel> standard() {
        List<ServedModel> all = list();
        return all.isEmpty() ? Optional.empty() : Optional.of(all.getFirst());
    }

    /// Unloads the models that nobody has asked for in a long time.
    public void unloadExpired() {
        snapshot().forEach(HostedModel::unloadIfExpired);
    }

    /// Unloads what was not asked for the longest, until another model fits the memory.
    void makeRoom(HostedModel wanted) {
        if (limits.memoryBytes() == 0) {
            return;
        }
        List<HostedModel> idle = snapshot().stream()
                .filter(model -> model != wanted && !model.pinned())
                .sorted(Comparator.comparingLong(HostedModel::lastUse))
                .toList();
        for (HostedModel model : idle) {
            long used = snapshot().stream()
                    .filter(each -> each != wanted && each.loaded().isPresent())
                    .mapToLong(HostedModel::bytes)
                    .sum();
            if (used + wanted.bytes() <= limits.memoryBytes()) {
                return;
            }
            model.unloadIfIdle();
        }
    }

    synchronized boolean closed() {
        return closed;
    }

    /// Unloads all models. Calling it twice does nothing.
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        snapshot().forEach(HostedModel::close);
    }
}
