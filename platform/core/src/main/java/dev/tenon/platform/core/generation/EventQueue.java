package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.Usage;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The events of a generation, from the thread that drives the steps to its consumer. Safe for any
/// thread; publishing never waits.
public final class EventQueue {
    /// Events that may wait for the consumer before its sequence pauses.
    private static final int WINDOW = 128;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final ArrayDeque<GenerationEvent> events = new ArrayDeque<>();
    private final Runnable onArrival;
    private final Runnable onRoom;
    private boolean consumed;
    private boolean paused;
    private boolean closed;
    private int taken;
    private Usage usage;
    private RuntimeException failure;

    /// @param onArrival called after each event and at the end, on the publishing thread
    /// @param onRoom called when a paused sequence may go on, on the consumer's thread
    public EventQueue(Runnable onArrival, Runnable onRoom) {
        this.onArrival = onArrival;
        this.onRoom = onRoom;
    }

    /// Adds an event, unless the queue is closed.
    public void publish(GenerationEvent event) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            events.add(event);
            arrived.signal();
        } finally {
            lock.unlock();
        }
        onArrival.run();
    }

    /// {@return whether so many events wait that the sequence has to pause until `onRoom`}
    public boolean pause() {
        lock.lock();
        try {
            paused = consumed && !closed && events.size() >= WINDOW;
            return paused;
        } finally {
            lock.unlock();
        }
    }

    /// {@return whether the sequence still has to pause}
    public boolean paused() {
        lock.lock();
        try {
            return paused;
        } finally {
            lock.unlock();
        }
    }

    /// Notes that there is a consumer; before, events are kept without a limit.
    public void consume() {
        lock.lock();
        try {
            consumed = true;
        } finally {
            lock.unlock();
        }
    }

    /// Takes the next event.
    ///
    /// @param wait whether to wait for one
    /// @return the event, or null if there is none yet, or none will come
    /// @throws InterruptedException if the thread is interrupted while it waits
    public GenerationEvent take(boolean wait) throws InterruptedException {
        GenerationEvent event;
        boolean room;
        lock.lockInterruptibly();
        try {
            while (wait && events.isEmpty() && !closed && !over()) {
                arrived.await();
            }
            event = closed ? null : events.poll();
            if (event instanceof GenerationEvent.Token) {
                taken++;
            }
            room = paused && events.size() < WINDOW / 2;
            paused &= !room;
        } finally {
            lock.unlock();
        }
        if (room) {
            onRoom.run();
        }
        return event;
    }

    /// Drops the events that wait; later ones are dropped too.
    public void close() {
        boolean room;
        lock.lock();
        try {
            closed = true;
            events.clear();
            room = paused;
            paused = false;
            arrived.signal();
        } finally {
            lock.unlock();
        }
        if (room) {
            onRoom.run();
        }
    }

    public boolean closed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /// {@return how many tokens were taken}
    public int taken() {
        lock.lock();
        try {
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the stream; exactly one of the two is given.
    public void end(Usage how, RuntimeException why) {
        lock.lock();
        try {
            usage = how;
            failure = why;
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
        onArrival.run();
    }

    private boolean over() {
        return usage != null || failure != null;
    }

    /// {@return whether nothing more will be published}
    public boolean ended() {
        lock.lock();
        try {
            return over();
        } finally {
            lock.unlock();
        }
    }

    /// {@return whether the stream has ended and nothing of it is left to take}
    public boolean finished() {
        lock.lock();
        try {
            return over() && events.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the end.
    ///
    /// @return counts, times and why it ended
    public Usage result() {
        lock.lock();
        try {
            while (!over()) {
                arrived.awaitUninterruptibly();
            }
            if (failure != null) {
                throw failure;
            }
            return usage;
        } finally {
            lock.unlock();
        }
    }

    /// {@return what made the generation fail, or null}
    public RuntimeException failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }
}
