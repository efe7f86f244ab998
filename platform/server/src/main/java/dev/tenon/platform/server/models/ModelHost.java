package dev.tenon.platform.server.models;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.ModelPurpose;
import dev.tenon.platform.core.control.SharedModel;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Loads models when they are asked for, and unloads those that were not for long, or whose memory others need; never
/// one that answers: where it is needed, its new requests wait until it has answered those before and was unloaded.
/// Safe for any thread.
public final class ModelHost implements ModelCatalog, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ModelHost.class);
    /// What Ollama adds to a name without a tag; it changes nothing.
    static final String LATEST = ":latest";

    private final Engine engine;
    private final ModelLimits limits;
    private final ModelStore store;
    private final ModelMemory memory;
    private final LeftModels left;
    /// Held while a model is loaded.
    private final ReentrantLock loads = new ReentrantLock();
    /// Guarded by this, as is the next.
    private final List<HostedModel> models = new ArrayList<>();
    /// Those that are not there any more, and not unloaded yet.
    private final List<HostedModel> leaving = new ArrayList<>();
    /// Set while this is held; read by models while they hold their own lock, so without it.
    private volatile boolean closed;
    /// How often memory may have become free. Guarded by this, as is the next.
    private long changes;
    /// Models that are being loaded, or wait for that, in the order in which they were asked for.
    private final Deque<HostedModel> line = new ArrayDeque<>();

    /// Creates a host without loaded models.
    ///
    /// @param engine loads them; not closed
    /// @param limits how they are loaded and kept
    /// @param pinned models that are loaded at the start and stay loaded, the standard one first
    /// @param store has further models, asked at each look
    /// @param left loaded models that others used before, taken instead of loading them again; closed by the host
    public ModelHost(
            Engine engine, ModelLimits limits, List<ModelSpec> pinned, ModelStore store, List<SharedModel> left) {
        this.engine = engine;
        this.limits = limits;
        this.store = store;
        this.left = new LeftModels(left);
        this.memory = new ModelMemory(limits.memoryBytes(), this::all);
        pinned.forEach(spec -> models.add(new HostedModel(this, spec, limits, true)));
    }

    /// Loads a model after others have made room for it; waits for those that answer, and for loads that were asked for
    /// before.
    ///
    /// @return the first lease
    /// @throws TenonException if it cannot be loaded, or can never fit, or the host is closed
    ServedModel.Lease load(HostedModel wanted) throws InterruptedException {
        synchronized (this) {
            line.add(wanted);
        }
        try {
            while (true) {
                long seen = awaitTurn(wanted);
                try {
                    return loadNow(wanted);
                } catch (OutOfResourcesException e) {
                    if (!askForRoom(wanted, seen)) {
                        throw e;
                    }
                }
                awaitChange(seen);
            }
        } finally {
            leaveLine(wanted);
        }
    }

    private synchronized long awaitTurn(HostedModel wanted) throws InterruptedException {
        while (line.getFirst() != wanted && !closed) {
            wait();
        }
        return changes;
    }

    private synchronized void awaitChange(long seen) throws InterruptedException {
        while (changes == seen && !closed) {
            wait();
        }
    }

    /// Notes that memory may have become free.
    synchronized void changed() {
        changes++;
        notifyAll();
    }

    /// Has the loaded model that was not asked for the longest leave after its requests, unless one does already.
    ///
    /// @return whether one leaves, or memory has become free
    private synchronized boolean askForRoom(HostedModel wanted, long seen) {
        List<HostedModel> loaded = memory.loadedBeside(wanted);
        if (!loaded.isEmpty() && loaded.stream().noneMatch(HostedModel::yielding)) {
            loaded.getFirst().yielding(true);
        }
        return !loaded.isEmpty() || all().stream().anyMatch(HostedModel::closing) || changes != seen;
    }

    private synchronized void leaveLine(HostedModel wanted) {
        line.remove(wanted);
        notifyAll();
        if (line.isEmpty()) {
            all().forEach(model -> model.yielding(false));
        }
    }

    private ServedModel.Lease loadNow(HostedModel wanted) throws InterruptedException {
        loads.lockInterruptibly();
        try {
            requireOpen();
            memory.makeRoom(wanted, wanted.neededBytes());
            SharedModel loaded = loadBesideOthers(wanted);
            try {
                memory.makeRoom(wanted, HostedModel.memory(loaded));
                return wanted.loaded(loaded);
            } catch (RuntimeException e) {
                loaded.close();
                throw e;
            }
        } finally {
            loads.unlock();
        }
    }

    /// Loads a model; where the device has no memory left, idle ones are unloaded first.
    private SharedModel loadBesideOthers(HostedModel wanted) {
        ModelSpec spec = wanted.spec();
        LoadRequest.Builder request = spec.request().toBuilder().maxSequences(limits.parallel());
        if (limits.context() > 0 && spec.request().contextLength() == 0) {
            request.contextLength(limits.context());
        }
        LoadRequest with = request.outputs(purpose(spec.request().path()).outputs(limits.embeddings()))
                .build();
        while (true) {
            try {
                return loadOrTake(with);
            } catch (OutOfResourcesException e) {
                if (!memory.unloadOldest(wanted)) {
                    throw e;
                }
            }
        }
    }

    private ModelPurpose purpose(Path file) {
        try (GgufFile opened = GgufReader.open(file, types())) {
            return ModelPurpose.of(opened.metadata());
        }
    }

    private SharedModel loadOrTake(LoadRequest request) {
        return left.take(request).orElseGet(() -> {
            LOG.info("Loading {}", request.path());
            return new SharedModel(request, engine.load(request));
        });
    }

    /// {@return the formats that files may have}
    TensorTypes types() {
        return TensorTypes.of(engine.formats());
    }

    /// {@return the chat template of a file: what its architecture gives, or else its own}
    ///
    /// @param metadata the file's
    Optional<String> chatTemplate(GgufMetadata metadata) {
        return Definitions.chatTemplate(engine.architectures(), metadata);
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

    /// Takes those of the left models that are there here, too, and closes the others.
    ///
    /// @throws InterruptedException if the thread is interrupted
    public void loadLeft() throws InterruptedException {
        if (left.isEmpty()) {
            return;
        }
        look();
        for (HostedModel model : snapshot()) {
            if (left.has(model.spec().request().path())) {
                model.lease().close();
            }
        }
        closeLeft();
    }

    private void closeLeft() {
        loads.lock();
        try {
            left.close();
        } finally {
            loads.unlock();
        }
    }

    /// {@return the loaded models, for another host to use them, too; it closes each once}
    public List<SharedModel> share() {
        return all().stream().map(HostedModel::share).flatMap(Optional::stream).toList();
    }

    private synchronized List<HostedModel> snapshot() {
        return List.copyOf(models);
    }

    /// {@return the models, and those that are leaving}
    private synchronized List<HostedModel> all() {
        List<HostedModel> all = new ArrayList<>(models);
        all.addAll(leaving);
        return all;
    }

    /// Looks which models the store has now. One that is gone, or has changed, is unloaded when it answers no more.
    public void look() {
        synchronized (store) { // so that an older look does not undo what a newer one found
            look(store.models());
        }
    }

    private void look(List<ModelSpec> found) {
        List<HostedModel> gone;
        synchronized (this) {
            gone = models.stream()
                    .filter(model -> !model.pinned() && !found.contains(model.spec()))
                    .toList();
            models.removeAll(gone);
            leaving.addAll(gone);
            for (ModelSpec spec : found) {
                if (models.stream().noneMatch(model -> model.isCalled(spec.name()))) {
                    models.add(new HostedModel(this, spec, limits, false));
                }
            }
        }
        gone.forEach(HostedModel::retire);
        synchronized (this) {
            leaving.removeIf(model -> model.loaded().isEmpty());
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
        return named(name)
                .or(() -> name.endsWith(LATEST)
                        ? named(name.substring(0, name.length() - LATEST.length()))
                        : Optional.empty())
                .or(() -> ModelSpec.isName(name) ? store.find(name).flatMap(this::named) : Optional.empty());
    }

    private Optional<ServedModel> named(String name) {
        return snapshot().stream()
                .filter(model -> model.isCalled(name))
                .map(ServedModel.class::cast)
                .findFirst();
    }

    @Override
    public Optional<ServedModel> standard() {
        if (snapshot().isEmpty()) {
            look();
        }
        return snapshot().stream().map(ServedModel.class::cast).findFirst();
    }

    /// Unloads the models that nobody has asked for in a long time.
    public void unloadExpired() {
        all().forEach(HostedModel::unloadIfExpired);
        synchronized (this) {
            leaving.removeIf(model -> model.loaded().isEmpty());
        }
    }

    /// {@return whether a model that is to stay loaded cannot answer: its file was changed, or could not be loaded}
    public boolean isBroken() {
        return snapshot().stream()
                .anyMatch(model -> model.pinned() && model.failure().isPresent());
    }

    /// Loads such models again once their files are others: nobody may send requests to a server that is not ready.
    public void reloadChanged() {
        snapshot().stream().filter(HostedModel::pinned).forEach(HostedModel::reloadIfChanged);
    }

    /// {@return whether it has been closed, or is being}
    boolean ended() {
        return closed;
    }

    /// Called by a model before it gives a lease, so that none is given once the host closes its models.
    ///
    /// @throws TenonException (`STATE-001`) if the host is closed
    void requireOpen() {
        if (ended()) {
            throw new TenonException(ErrorCode.CLOSED, "The server ends and loads no model any more.");
        }
    }

    /// Unloads all models. Calling it twice does nothing.
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        all().forEach(HostedModel::close);
        closeLeft();
    }
}
