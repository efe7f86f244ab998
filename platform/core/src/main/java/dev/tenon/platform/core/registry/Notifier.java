package dev.tenon.platform.core.registry;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells all services of a kind of events, on one thread, for which nobody waits: what does not fit into its queue
/// is dropped. The removal of a service waits until it is not called any more, for ten seconds; then the call is
/// interrupted. Safe for any thread.
///
/// @param <S> the kind
public final class Notifier<S> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Notifier.class);
    private static final int CAPACITY = 1000;
    private static final long END_SECONDS = 10;

    private final ServiceRegistry registry;
    private final Class<S> type;
    private final ThreadPoolExecutor thread;
    private final LongAdder dropped = new LongAdder();
    private final Consumer<Object> onRemoval = this::removed;
    /// The service that is called now, and where; guarded by this.
    private Object called;

    private Thread caller;

    /// Makes one, which starts its thread when there is something to tell.
    ///
    /// @param registry has the services
    /// @param type their kind
    public Notifier(ServiceRegistry registry, Class<S> type) {
        this.registry = registry;
        this.type = type;
        thread = new ThreadPoolExecutor(
                1,
                1,
                1,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(CAPACITY),
                task -> Thread.ofPlatform()
                        .name("tenon-" + type.getSimpleName())
                        .daemon(true)
                        .inheritInheritableThreadLocals(false)
                        .unstarted(task));
        thread.allowCoreThreadTimeOut(true);
        registry.onRemoval(onRemoval);
    }

    /// Has each service be called that is offered when its turn comes.
    ///
    /// @param call calls one
    public void tell(Consumer<S> call) {
        if (registry.all(type).isEmpty()) {
            return;
        }
        try {
            thread.execute(() -> registry.all(type).forEach(service -> tell(service, call)));
        } catch (RejectedExecutionException e) {
            dropped.increment();
        }
    }

    /// {@return how many events nobody was told of, because too many waited}
    public long dropped() {
        return dropped.sum();
    }

    private void tell(S service, Consumer<S> call) {
        synchronized (this) {
            if (!registry.offers(service)) {
                return;
            }
            called = service;
            caller = Thread.currentThread();
        }
        try {
            call.accept(service);
        } catch (RuntimeException | Error e) {
            LOG.warn(
                    "{} failed and is told of the next event all the same",
                    service.getClass().getName(),
                    e);
        } finally {
            synchronized (this) {
                called = null;
                Thread.interrupted();
                notifyAll();
            }
        }
    }

    /// Waits until a service that is not offered any more is not called.
    private synchronized void removed(Object service) {
        long begin = System.nanoTime();
        long rest = TimeUnit.SECONDS.toMillis(END_SECONDS);
        try {
            while (called == service && caller != Thread.currentThread() && rest > 0) {
                wait(rest);
                rest = TimeUnit.SECONDS.toMillis(END_SECONDS)
                        - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (called == service && caller != Thread.currentThread()) {
            LOG.warn(
                    "{} goes while it is called; the call is interrupted",
                    service.getClass().getName());
            caller.interrupt();
        }
    }

    /// Tells of what waits, for a second at most, and ends.
    @Override
    public void close() {
        registry.offRemoval(onRemoval);
        thread.shutdown();
        try {
            thread.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread.shutdownNow();
    }
}
