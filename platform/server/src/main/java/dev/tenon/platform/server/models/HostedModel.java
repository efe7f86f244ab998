package dev.tenon.platform.server.models;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.chat.Chats;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SharedModel;
import dev.tenon.platform.server.queue.Admission;
import dev.tenon.platform.server.queue.QueueFullException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A model of a [ModelHost]: loaded by the first who asks, closed when nobody uses it and its time has come.
final class HostedModel implements ServedModel {
    private static final Logger LOG = LoggerFactory.getLogger(HostedModel.class);

    private final ModelHost host;
    private final ModelSpec spec;
    private final Instant created = Instant.now();
    private final Admission admission;
    private final boolean pinned;
    private final ModelLimits limits;
    private volatile Map<String, Float> adapters;
    /// Held while the model is loaded or closed.
    private final ReentrantLock loading = new ReentrantLock();
    /// Guarded by this, as are those below; changed with [#loading] held, too.
    private SharedModel model;
    private int leases;
    /// Whether it is unloaded with the end of its last request.
    private boolean leaving;
    /// Whether new requests wait until it was unloaded, since another one waits for its memory.
    private boolean yielding;
    /// Whether it is not among the models any more.
    private boolean retired;
    /// Whether its file was changed, so that it is of no use: it is unloaded with the end of its last request.
    private boolean changed;
    /// Why it could not be loaded last; null if it could.
    private TenonException refused;
    /// Whether it was taken out and is being closed.
    private boolean closing;
    /// The state of its files when [#reloadIfChanged] was called last, and when that loaded it; empty while it can
    /// answer.
    private String seen = "";
    private String tried = "";
    /// What it took when it was loaded last; 0 before.
    private long took;
    /// How the model chats, while it is loaded.
    private Chats chats = new Chats();
    private Duration keepAlive;
    private long lastUse = System.nanoTime();

    HostedModel(ModelHost host, ModelSpec spec, ModelLimits limits, boolean pinned) {
        this.host = host;
        this.spec = spec;
        this.limits = limits;
        this.admission = new Admission(limits.parallel(), limits.queue());
        this.pinned = pinned;
        this.keepAlive = standardKeepAlive();
    }

    @Override
    public ModelSpec spec() {
        return spec;
    }

    @Override
    public Instant created() {
        return created;
    }

    @Override
    public Admission admission() {
        return admission;
    }

    @Override
    public boolean pinned() {
        return pinned;
    }

    private Duration standardKeepAlive() {
        Duration own = spec.preset().keepAlive();
        return own == null ? limits.keepAlive() : own;
    }

    boolean isCalled(String name) {
        return spec.name().equals(name) || spec.aliases().contains(name);
    }

    synchronized long lastUse() {
        return lastUse;
    }

    @Override
    public Lease lease() throws InterruptedException {
        Lease ready = leaseIfLoaded();
        if (ready != null) {
            return ready;
        }
        admission.beginWait();
        try {
            while (ready == null) {
                awaitUnloaded();
                ready = leaseOrLoad();
            }
            return ready;
        } finally {
            admission.endWait();
        }
    }

    private void awaitUnloaded() throws InterruptedException {
        while (!isUnloadedOrStays()) {
            unloadIfIdle();
        }
    }

    /// Waits while it has to be unloaded and that is up to others.
    ///
    /// @return whether nobody has to unload it
    private synchronized boolean isUnloadedOrStays() throws InterruptedException {
        while (model != null && (yielding || changed) && (!changed || leases > 0)) {
            wait();
        }
        return model == null || !changed;
    }

    /// {@return why its requests fail now, if they do: its file was changed, or could not be loaded}
    synchronized Optional<TenonException> failure() {
        return model == null ? Optional.ofNullable(refused) : failure(model);
    }

    private static Optional<TenonException> failure(SharedModel model) {
        return model.model() instanceof ScheduledModel scheduled ? scheduled.failure() : Optional.empty();
    }

    /// {@return a lease; null if another model waits for this one's memory}
    private Lease leaseOrLoad() throws InterruptedException {
        loading.lockInterruptibly();
        try {
            Lease ready = leaseIfLoaded();
            return ready != null || loaded().isPresent() ? ready : host.load(this);
        } catch (TenonException e) {
            refused(e);
            throw e;
        } finally {
            loading.unlock();
            host.changed(); // it could not be unloaded meanwhile
        }
    }

    private synchronized void refused(TenonException why) {
        refused = why;
    }

    /// Takes the model that was loaded for it.
    ///
    /// @return the first lease
    /// @throws TenonException if the host was closed meanwhile; the model is not taken then
    synchronized Lease loaded(SharedModel loaded) {
        host.requireOpen();
        model = loaded;
        refused = null;
        took = memory(loaded);
        yielding = false;
        return leaseIfLoaded();
    }

    /// Sets whether new requests wait until it was unloaded.
    synchronized void yielding(boolean is) {
        yielding = is;
        notifyAll();
    }

    synchronized boolean yielding() {
        return yielding && model != null;
    }

    private synchronized Lease leaseIfLoaded() {
        if (model == null || yielding) {
            return null;
        }
        changed = failure(model).isPresent();
        if (changed) {
            return null;
        }
        leases++;
        lastUse = System.nanoTime();
        return new Use(model);
    }

    private final class Use implements Lease {
        private final SharedModel used;
        private boolean closed;
        private ChatModel chat;

        Use(SharedModel used) {
            this.used = used;
        }

        @Override
        public LoadedModel model() {
            return used.model();
        }

        @Override
        public ChatModel chat() {
            synchronized (HostedModel.this) {
                if (chat == null) {
                    chat = chats.of(model());
                }
                return chat;
            }
        }

        @Override
        public void close() {
            boolean last;
            boolean unload;
            synchronized (HostedModel.this) {
                if (closed) {
                    return;
                }
                closed = true;
                leases--;
                lastUse = System.nanoTime();
                last = leases == 0;
                HostedModel.this.notifyAll();
                unload = last && (leaving || retired || yielding || changed || !pinned && keepAlive.isZero());
            }
            if (unload) {
                unloadIfIdle();
            }
            if (last) {
                host.changed();
            }
        }
    }

    @Override
    public synchronized void keepAlive(Duration time) {
        keepAlive = time;
    }

    @Override
    public Map<String, Float> adapters() {
        return adapters;
    }

    @Override
    public void adapters(Map<String, Float> scales) {
        adapters = scales;
    }

    @Override
    public synchronized Optional<LoadedModel> loaded() {
        return Optional.ofNullable(model).map(SharedModel::model);
    }

    @Override
    public synchronized Semaphore sequences() {
        if (model == null) {
            throw new TenonException(ErrorCode.CLOSED, spec.name() + " has been closed with the server.");
        }
        return model.sequences();
    }

    /// {@return the model, if it is loaded now, with another user}
    synchronized Optional<SharedModel> share() {
        return Optional.ofNullable(model).map(SharedModel::share);
    }

    @Override
    public synchronized Optional<Instant> expires() {
        return model == null || pinned || keepAlive.isNegative()
                ? Optional.empty()
                : Optional.of(Instant.now().plus(keepAlive).minusNanos(System.nanoTime() - lastUse));
    }

    @Override
    public long bytes() {
        try {
            return ModelParts.bytes(spec.request().path());
        } catch (IOException e) {
            LOG.debug("The size of {} is unknown", spec.name(), e);
            return 0;
        }
    }

    @Override
    public synchronized long memoryBytes() {
        return model == null ? 0 : memory(model);
    }

    static long memory(SharedModel model) {
        return model.model() instanceof ScheduledModel scheduled ? scheduled.memoryBytes() : 0;
    }

    /// {@return memory that it needs: what it took last, or the size of its files, where it was never loaded}
    long neededBytes() {
        synchronized (this) {
            if (took > 0) {
                return took;
            }
        }
        return bytes();
    }

    @Override
    public boolean unload() {
        synchronized (this) {
            leaving = model != null;
            if (leases > 0) {
                return false;
            }
        }
        return unloadIfIdle() || loaded().isEmpty();
    }

    /// Loads it again after its file was changed, if the file was changed once more since that failed, and does not
    /// change at this moment. Called time and again, by one thread.
    void reloadIfChanged() {
        String found = failure().isPresent() ? ModelParts.state(spec.request().path()) : "";
        boolean rests = found.equals(seen);
        seen = found;
        if (rests && !found.equals(tried)) {
            tried = found;
            if (!found.isEmpty()) {
                Thread.ofVirtual().name("tenon-reload").start(this::reload);
            }
        }
    }

    private void reload() {
        try {
            lease().close();
        } catch (TenonException | QueueFullException e) {
            LOG.warn("{} cannot answer until its file is right: {}", spec.name(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Unloads it for good, at once or with the end of its last request.
    void retire() {
        synchronized (this) {
            retired = true;
        }
        unload();
    }

    void unloadIfExpired() {
        synchronized (this) {
            boolean over = !pinned && !keepAlive.isNegative() && System.nanoTime() - lastUse >= keepAlive.toNanos();
            if (!over && !leaving) {
                return;
            }
        }
        unloadIfIdle();
    }

    /// Closes the model, unless it is in use or being loaded.
    ///
    /// @return whether it was closed
    boolean unloadIfIdle() {
        if (!loading.tryLock()) {
            return false;
        }
        try {
            SharedModel unused;
            synchronized (this) {
                unused = leases == 0 ? model : null;
                if (unused != null) {
                    model = null;
                    chats = new Chats();
                    closing = true;
                    leaving = false;
                    yielding = false;
                    changed = false;
                    keepAlive = standardKeepAlive();
                    notifyAll();
                }
            }
            if (unused != null) {
                LOG.info("Unloading {}", spec.name());
                try {
                    unused.close();
                } finally {
                    host.changed(); // before it counts as closed: who sees that then tries once more
                    closed();
                    host.changed();
                }
            }
            return unused != null;
        } finally {
            loading.unlock();
        }
    }

    private synchronized void closed() {
        closing = false;
    }

    synchronized boolean closing() {
        return closing;
    }

    /// Closes the model, in use or not.
    void close() {
        loading.lock();
        try {
            SharedModel last;
            synchronized (this) {
                last = model;
                model = null;
                chats = new Chats();
                notifyAll();
            }
            if (last != null) {
                last.close();
            }
        } finally {
            loading.unlock();
        }
    }
}
