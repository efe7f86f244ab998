package dev.tenon.backend.cpu.vector.threads;

import dev.tenon.api.config.Setting;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/// A fixed team of threads: the caller and a number of daemon workers, with a barrier and a work counter.
///
/// Waiting spins for a moment and then parks; at once where another thread of the team was seen on the
/// same processor, which cannot arrive while this one spins. Nothing is allocated while a job
/// runs, but for what the first parking inside one takes. Jobs of several callers run one after the other.
/// Whoever created the team closes it.
public final class CpuThreads implements AutoCloseable {
    /// The setting of how long a waiting thread spins.
    public static final Setting SPIN = Setting.integer(
            "threads.spin-us",
            0,
            0,
            1_000_000,
            "Microseconds that a waiting thread spins before it parks; 0: 500, or 40 with more threads than processors.");

    /// How long a waiting thread spins before it parks: several times what waking it takes. With less,
    /// a thread that was late once makes the others park, which are late then, and so on.
    private static final long SPIN_NANOS = 500_000;
    /// The same in a team with more threads than processors, where a spinning thread keeps another
    /// one from running.
    private static final long CROWDED_SPIN_NANOS = 40_000;
    /// Spins between two looks at the clock.
    private static final int SPINS = 64;
    /// Places between the entries of two threads, so that no two are in one cache line.
    private static final int APART = 16;

    /// What each thread of the team does.
    public interface Job {
        /// Runs on every thread of the team at once.
        ///
        /// @param thread 0 for the caller, then 1 to size - 1
        void run(int thread);
    }

    /// What a thread waits for the end of.
    private interface Still {
        boolean holds(int since);
    }

    /// Leaves a job after another thread of the team failed.
    private static final class Abandoned extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Abandoned() {
            super("another thread of the team failed", null, false, false);
        }
    }

    private static final Abandoned ABANDONED = new Abandoned();

    private final int size;
    private final long spinNanos;
    private final CpuPinning pinning;
    private final Thread[] threads;
    private final AtomicIntegerArray parked;
    /// Tells the calling thread's processor; see [CurrentProcessor#index()].
    private final IntSupplier processor;
    /// One more than the processor that a thread was on when it last came out of a barrier; 0 if not known.
    private final AtomicIntegerArray places;
    /// Whether places are noted: from the first time on that a thread parked in a job. On processors of
    /// their own they do not, and need not look for the system's function.
    private volatile boolean placed;
    private final ReentrantLock turn = new ReentrantLock();
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile int generation;
    private volatile int epoch;
    private volatile Job job;
    private volatile boolean closed;
    /// The barrier of this generation, which the failure of a thread opens too.
    private final Still stillOpen = since -> generation == since && failure.get() == null;
    /// Workers that have not ended the job.
    private final Still stillRunning = since -> running.get() != since;
    /// No job since this epoch.
    private final Still stillIdle = since -> epoch == since && !closed;

    /// Starts the workers.
    ///
    /// @param size threads, the caller included; at least 1
    public CpuThreads(int size) {
        this(size, null);
    }

    /// Starts the workers.
    ///
    /// @param size threads, the caller included; at least 1
    /// @param pinning binds them to processors; null leaves that to the system
    public CpuThreads(int size, CpuPinning pinning) {
        this(size, pinning, spinNanos(size), CurrentProcessor::index);
    }

    private static long spinNanos(int size) {
        return size > Runtime.getRuntime().availableProcessors() ? CROWDED_SPIN_NANOS : SPIN_NANOS;
    }

    /// {@return a team that spins for as long as settings say}
    ///
    /// @param size threads, the caller included; at least 1
    /// @param pinning binds them to processors; null leaves that to the system
    /// @param settings the backend's settings
    /// @throws dev.tenon.api.error.TenonException (`CFG-001`) if the value is not allowed
    public static CpuThreads of(int size, CpuPinning pinning, Map<String, String> settings) {
        long nanos = TimeUnit.MICROSECONDS.toNanos(Long.parseLong(SPIN.in(settings)));
        return new CpuThreads(size, pinning, nanos == 0 ? spinNanos(size) : nanos, CurrentProcessor::index);
    }

    /// Starts the workers.
    ///
    /// @param size threads, the caller included; at least 1
    /// @param pinning binds them to processors; null leaves that to the system
    /// @param spinNanos how long a waiting thread spins before it parks
    /// @param processor tells the calling thread's processor, or [CurrentProcessor#UNKNOWN]
    public CpuThreads(int size, CpuPinning pinning, long spinNanos, IntSupplier processor) {
        if (size < 1) {
            throw new IllegalArgumentException("a team of " + size + " threads; expected at least 1");
        }
        this.size = size;
        this.spinNanos = spinNanos;
        this.processor = processor;
        this.places = new AtomicIntegerArray(size * APART);
        this.pinning = pinning;
        this.threads = new Thread[size];
        this.parked = new AtomicIntegerArray(size);
        for (int i = 1; i < size; i++) {
            int index = i;
            threads[i] = Thread.ofPlatform().name("tenon-cpu-" + i).daemon(true).unstarted(() -> work(index));
        }
        for (int i = 1; i < size; i++) {
            threads[i].start();
        }
    }

    /// {@return threads of the team, the caller included}
    public int size() {
        return size;
    }

    /// Runs a job on all threads; returns when all have ended.
    ///
    /// @param newJob what to do
    /// @throws BackendException (`BACKEND-003`) with the first failure as cause, if a thread threw;
    ///     (`STATE-001`) if the team is closed
    public void run(Job newJob) {
        turn.lock();
        try {
            if (closed) {
                throw new BackendException(
                        ErrorCode.CLOSED, "the CPU device was closed; close its plans first and open it again");
            }
            arrived.set(0);
            next.set(0);
            failure.set(null);
            threads[0] = Thread.currentThread();
            running.set(size - 1);
            job = newJob;
            epoch = epoch + 1;
            wakeAll(0);
            runCaller(newJob);
            job = null;
            threads[0] = null;
            Throwable thrown = failure.get();
            if (thrown != null) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        "a CPU kernel failed: " + thrown + "; the step was given up, the device stays usable",
                        0,
                        thrown);
            }
        } finally {
            turn.unlock();
        }
    }

    /// Waits until all threads of the team have come here; then the work counter starts at 0 again.
    ///
    /// @param thread the calling thread's index
    public void barrier(int thread) {
        if (size == 1) {
            next.set(0);
            return;
        }
        int now = generation;
        if (arrived.incrementAndGet() == size) {
            arrived.set(0);
            next.set(0);
            generation = now + 1;
            wakeAll(thread);
            place(thread);
            return;
        }
        await(stillOpen, now, thread);
        place(thread);
        if (generation == now) {
            throw ABANDONED;
        }
    }

    /// Takes the next items of the work between two barriers.
    ///
    /// @param grain how many
    /// @return index of the first one taken; work is over when it is not below the total
    public int claim(int grain) {
        return next.getAndAdd(grain);
    }

    /// The caller's part, on a processor of its own where threads are pinned.
    private void runCaller(Job current) {
        boolean pinned = pinning != null && pinning.enter();
        runOne(current, 0);
        await(stillRunning, 0, 0);
        if (pinned) {
            pinning.leave();
        }
    }

    /// Spins for a moment and then parks, until a condition no longer holds.
    ///
    /// @param still the condition; who ends it wakes the thread if that has parked
    /// @param since what the condition compares with
    /// @param thread the calling thread's index
    private void await(Still still, int since, int thread) {
        int spins = 0;
        long began = 0;
        while (still.holds(since)) {
            Thread.onSpinWait();
            if (++spins % SPINS != 0) {
                continue;
            }
            if (began == 0) {
                began = System.nanoTime();
            }
            boolean late = System.nanoTime() - began > spinNanos;
            if (late || shared(thread)) {
                if (job != null) {
                    noticeProcessors();
                }
                parked.set(thread, 1);
                if (still.holds(since)) {
                    LockSupport.park(this);
                }
                parked.set(thread, 0);
            }
        }
    }

    /// Lets places be noted from now on.
    void noticeProcessors() {
        if (!placed) {
            placed = true;
        }
    }

    /// Notes where a thread runs.
    private void place(int thread) {
        if (placed) {
            places.setOpaque(thread * APART, processor.getAsInt() + 1);
        }
    }

    /// {@return whether another thread was last seen on the processor of this one, which waits}
    private boolean shared(int thread) {
        int here = placed ? processor.getAsInt() + 1 : 0;
        for (int i = 0; here > 0 && i < size; i++) {
            if (i != thread && places.getOpaque(i * APART) == here) {
                return true;
            }
        }
        return false;
    }

    private void wakeAll(int except) {
        for (int i = 0; i < size; i++) {
            if (i != except && parked.get(i) == 1) {
                LockSupport.unpark(threads[i]);
            }
        }
    }

    private void runOne(Job current, int thread) {
        try {
            place(thread);
            current.run(thread);
        } catch (Throwable t) {
            // Everything is caught, errors included: the other threads must be released, and the caller gets the
            // failure.
            if (t != ABANDONED) {
                failure.compareAndSet(null, t);
            }
            wakeAll(thread);
        }
    }

    private void work(int thread) {
        if (pinning != null) {
            pinning.pin(thread);
        }
        int seen = 0;
        while (true) {
            await(stillIdle, seen, thread);
            if (closed) {
                return;
            }
            seen = epoch;
            runOne(job, thread);
            if (running.decrementAndGet() == 0 && parked.get(0) == 1) {
                LockSupport.unpark(threads[0]);
            }
        }
    }

    /// Ends the workers and waits for them. Calling it twice does nothing.
    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
            for (int i = 1; i < size; i++) {
                LockSupport.unpark(threads[i]);
            }
        } finally {
            turn.unlock();
        }
        boolean interrupted = false;
        for (int i = 1; i < size; i++) {
            while (threads[i].isAlive()) {
                try {
                    threads[i].join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
