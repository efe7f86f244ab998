package dev.tenon.platform.server.models;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import dev.tenon.platform.server.queue.Admission;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
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
    /// Held while the model is loaded or closed.
    private final ReentrantLock loading = new ReentrantLock();
    /// Guarded by this, as are those below; changed with [#loading] held, too.
    private LoadedModel model;
    private int leases;
    /// Held while [#vocabulary] is prepared, and guards it.
    private final Object preparing = new Object();
    private TokenVocabulary vocabulary;
    private Duration keepAlive;
    private long lastUse = System.nanoTime();

    HostedModel(ModelHost host, ModelSpec spec, ModelLimits limits, boolean pinned) {
        this.host = host;
        this.spec = spec;
        this.admission = new Admission(limits.parallel(), limits.queue());
        this.pinned = pinned;
        this.keepAlive = limits.keepAlive();
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

    boolean pinned() {
        return pinned;
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
        loading.lockInterruptibly();
        try {
            ready = leaseIfLoaded();
            if (ready != null) {
                return ready;
            }
            if (host.closed()) {
                throw new TenonException(ErrorCode.CLOSED, "The server ends and loads no model any more.");
            }
            host.makeRoom(this);
            LoadedModel loaded = host.load(spec);
            synchronized (this) {
                model = loaded;
                return leaseIfLoaded();
            }
        } finally {
            loading.unlock();
        }
    }

    private synchronized Lease leaseIfLoaded() {
        if (model == null) {
            return null;
        }
        leases++;
        lastUse = System.nanoTime();
        return new Use(model);
    }

    private final class Use implements Lease {
        private final LoadedModel used;
        private boolean closed;

        Use(LoadedModel used) {
            this.used = used;
        }

        @Override
        public LoadedModel model() {
            return used;
        }

        @Override
        public TokenVocabulary vocabulary() {
            synchronized (preparing) {
                if (vocabulary == null || vocabulary.tokenizer() != used.tokenizer()) {
                    vocabulary = new TokenVocabulary(used.tokenizer());
                }
                return vocabulary;
            }
        }

        @Override
        public void close() {
            synchronized (HostedModel.this) {
                if (!closed) {
                    closed = true;
                    leases--;
                    lastUse = System.nanoTime();
                }
            }
        }
    }

    @Override
    public synchronized void keepAlive(Duration time) {
        keepAlive = time;
    }

    @Override
    public synchronized Optional<LoadedModel> loaded() {
        return Optional.ofNullable(model);
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
            return Files.size(spec.request().path());
        } catch (IOException e) {
            LOG.debug("The size of {} is unknown", spec.name(), e);
            return 0;
        }
    }

    void unloadIfExpired() {
        synchronized (this) {
            if (pinned || keepAlive.isNegative() || System.nanoTime() - lastUse < keepAlive.toNanos()) {
                return;
            }
        }
        unloadIfIdle();
    }

    /// Closes the model, unless it is in use or being loaded.
    void unloadIfIdle() {
        if (!loading.tryLock()) {
            return;
        }
        try {
            LoadedModel unused;
            synchronized (this) {
                unused = leases == 0 ? model : null;
                if (unused != null) {
                    model = null;
                }
            }
            if (unused != null) {
                LOG.info("Unloading {}", spec.name());
                unused.close();
            }
        } finally {
            loading.unlock();
        }
    }

    /// Closes the model, in use or not.
    void close() {
        loading.lock();
        try {
            LoadedModel last;
            synchronized (this) {
                last = model;
                model = null;
            }
            if (last != null) {
                last.close();
            }
        } finally {
            loading.unlock();
        }
    }
}
