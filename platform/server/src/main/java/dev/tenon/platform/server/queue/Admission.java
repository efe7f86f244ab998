package dev.tenon.platform.server.queue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/// Lets so many requests in at a time, and has others wait: those of a higher priority go first, of the same priority
/// the groups take turns, and within a group it is first come, first served. Safe for any thread.
public final class Admission {
    private final int places;
    private final int most;
    private final ReentrantLock lock = new ReentrantLock();
    /// Waiting requests by priority, the highest first, and by group, in the order of their turns.
    private final TreeMap<Integer, LinkedHashMap<String, Deque<CompletableFuture<Void>>>> waiting =
            new TreeMap<>(java.util.Comparator.reverseOrder());
    private int running;
    private int queued;

    /// Creates an empty queue.
    ///
    /// @param places how many requests run at a time
    /// @param most how many may wait
    public Admission(int places, int most) {
        this.places = places;
        this.most = most;
    }

    /// A request that was let in; closing it lets the next one in.
    public final class Place implements AutoCloseable {
        private boolean closed;

        private Place() {}

        /// Leaves. Calling it twice does nothing. For one thread.
        @Override
        public void close() {
            if (!closed) {
                closed = true;
                leave();
            }
        }
    }

    /// Counts a request among those that wait, though it waits for its model and not for a place yet.
    ///
    /// @throws QueueFullException if as many wait as may after those that would run at once
    public void beginWait() {
        lock.lock();
        try {
            if (running + queued >= places + most) {
                throw new QueueFullException(queued);
            }
            queued++;
        } finally {
            lock.unlock();
        }
    }

    /// Ends such a wait; called once after each [#beginWait()].
    public void endWait() {
        lock.lock();
        try {
            queued--;
        } finally {
            lock.unlock();
        }
    }

    /// Waits until there is a place.
    ///
    /// @param group whose request it is
    /// @param priority higher goes first
    /// @return the place; the caller closes it
    /// @throws QueueFullException if as many wait as may
    /// @throws InterruptedException if the thread is interrupted; it waits no more
    public Place enter(String group, int priority) throws InterruptedException {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        lock.lock();
        try {
            if (running < places) {
                running++;
                return new Place();
            }
            if (queued >= most) {
                throw new QueueFullException(queued);
            }
            queued++;
            waiting.computeIfAbsent(priority, p -> new LinkedHashMap<>())
                    .computeIfAbsent(group, g -> new ArrayDeque<>())
                    .add(turn);
        } finally {
            lock.unlock();
        }
        try {
            turn.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a turn never fails", e);
        } catch (InterruptedException e) {
            giveUp(turn, group, priority);
            throw e;
        }
        return new Place();
    }

    /// Removes a request that waits no more; one whose turn has come passes it on.
    private void giveUp(CompletableFuture<Void> turn, String group, int priority) {
        lock.lock();
        try {
            if (turn.isDone()) {
                leave();
                return;
            }
            queued--;
            Map<String, Deque<CompletableFuture<Void>>> groups = waiting.get(priority);
            Deque<CompletableFuture<Void>> turns = groups.get(group);
            turns.remove(turn);
            if (turns.isEmpty()) {
                groups.remove(group);
            }
            if (groups.isEmpty()) {
                waiting.remove(priority);
            }
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            if (waiting.isEmpty()) {
                running--;
                return;
            }
            Map.Entry<Integer, LinkedHashMap<String, Deque<CompletableFuture<Void>>>> first = waiting.firstEntry();
            LinkedHashMap<String, Deque<CompletableFuture<Void>>> groups = first.getValue();
            Map.Entry<String, Deque<CompletableFuture<Void>>> next = groups.pollFirstEntry();
            CompletableFuture<Void> turn = next.getValue().poll();
            if (!next.getValue().isEmpty()) {
                groups.put(next.getKey(), next.getValue()); // its next turn comes after those of the others
            }
            if (groups.isEmpty()) {
                waiting.remove(first.getKey());
            }
            queued--;
            turn.complete(null);
        } finally {
            lock.unlock();
        }
    }

    /// {@return how many requests run at a time}
    public int places() {
        return places;
    }

    /// {@return how many run now}
    public int running() {
        lock.lock();
        try {
            return running;
        } finally {
            lock.unlock();
        }
    }

    /// {@return how many wait now}
    public int queued() {
        lock.lock();
        try {
            return queued;
        } finally {
            lock.unlock();
        }
    }
}
