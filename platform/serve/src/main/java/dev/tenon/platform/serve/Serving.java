package dev.tenon.platform.serve;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.server.HandOver;
import dev.tenon.platform.server.ServerBuilder;
import dev.tenon.platform.server.TenonServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A server that another one takes the place of whenever its settings change, or its bundle does:
/// the next one starts with the listening socket, the models and the counts of the one before,
/// which then answers what it has begun. Safe for any thread.
final class Serving {
    private static final Logger LOG = LoggerFactory.getLogger(Serving.class);
    private static final long LOOK_MILLIS = 500;

    /// How a server ends.
    ///
    /// @param delay how long it takes work after it is told to end
    /// @param limit how long running requests have to end
    record DrainTimes(Duration delay, Duration limit) {}

    private final Supplier<ServerBuilder> settings;
    private final Supplier<DrainTimes> drainTimes;
    private final Supplier<List<Path>> files;
    /// Servers whose place others took, and which still answer. Guarded by this, as are those below.
    private final List<Thread> retiring = new ArrayList<>();
    /// Null before the start and after the end.
    private TenonServer server;
    private DrainTimes times;
    private boolean ended;
    private boolean changed;
    private List<String> stamps = List.of();

    /// @param settings reads the settings
    /// @param drainTimes how the server ends
    /// @param files what else the server reads at its start, if it is there
    Serving(Supplier<ServerBuilder> settings, Supplier<DrainTimes> drainTimes, Supplier<List<Path>> files) {
        this.settings = settings;
        this.drainTimes = drainTimes;
        this.files = files;
    }

    /// Starts the server.
    ///
    /// @param before gives what the one whose place it takes has, or null
    /// @return its address
    /// @throws TenonException if it cannot start
    synchronized String start(Supplier<HandOver> before) {
        changed = false;
        stamps = stamps();
        times = drainTimes.get();
        server = settings.get().takeOver(before.get()).start();
        return server.address();
    }

    /// Has the settings read again soon.
    synchronized void reload() {
        changed = true;
        notifyAll();
    }

    /// Serves until the end, or until the server has been handed on.
    ///
    /// @throws InterruptedException if the thread is interrupted; the server is closed
    synchronized void run() throws InterruptedException {
        try {
            while (!ended) {
                wait(LOOK_MILLIS);
                List<String> now = stamps();
                if (!ended && (changed || !now.equals(stamps))) {
                    changed = false;
                    stamps = now;
                    restart();
                }
            }
        } finally {
            if (server != null) {
                server.close();
            }
        }
    }

    private void restart() {
        TenonServer before = server;
        Duration last = times.limit();
        try {
            DrainTimes next = drainTimes.get();
            server = settings.get().takeOver(before.handOver()).start();
            times = next;
        } catch (TenonException | IllegalArgumentException e) {
            LOG.error("The changed settings are refused, and those before stay: {}", e.getMessage());
            return;
        }
        LOG.info("The changed settings are in use");
        retiring.removeIf(thread -> !thread.isAlive());
        retiring.add(Thread.ofVirtual().name("tenon-retire").start(() -> before.retire(last)));
    }

    /// {@return size and time of each file}
    private List<String> stamps() {
        return files.get().stream()
                .map(file -> {
                    try {
                        return file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file);
                    } catch (IOException e) {
                        LOG.debug("{} is not there", file, e);
                        return file + " is not there";
                    }
                })
                .toList();
    }

    /// Takes no new work, and ends with what runs.
    ///
    /// @param later whether it takes work for a while nevertheless
    void end(boolean later) {
        TenonServer last;
        DrainTimes time;
        synchronized (this) {
            last = server;
            time = times;
            if (last == null) {
                return;
            }
        }
        last.drain(later ? time.delay() : Duration.ZERO, time.limit());
        awaitRetired();
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    /// {@return what the server has, for one that begins beside it}
    ///
    /// @throws TenonException if it has ended
    synchronized HandOver handOver() {
        if (server == null || ended) {
            throw new TenonException(ErrorCode.CLOSED, "The server has ended.");
        }
        return server.handOver();
    }

    /// Ends with what runs, since the bundle stops.
    ///
    /// @param succeeded whether another server goes on with what this one has; it may begin before the end
    void leave(boolean succeeded) {
        TenonServer last;
        Duration limit;
        synchronized (this) {
            if (server == null || ended) {
                return;
            }
            last = server;
            limit = times.limit();
            if (succeeded) {
                server = null;
                ended = true;
                notifyAll();
            }
        }
        if (succeeded) {
            last.retire(limit);
            awaitRetired();
        } else {
            end(false);
        }
    }

    private void awaitRetired() {
        List<Thread> last;
        synchronized (this) {
            last = List.copyOf(retiring);
        }
        try {
            for (Thread thread : last) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TenonException(ErrorCode.INTERRUPTED, "The end of the server was interrupted.", e);
        }
    }
}
