package dev.tenon.platform.cli.main;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// The runs of one command: the first one, and those of new versions of its bundle that take its
/// place. Keeps nothing of a run that has ended. Safe for any thread.
final class Runs {
    /// Those that have not ended.
    private final List<Run> all = new ArrayList<>();
    private int status;

    /// One run of the command.
    final class Run {
        /// Whose place it takes; null for the first one, and once it does the work itself.
        private Run before;
        private Supplier<List<Object>> things;
        private Throwable failure;
        private boolean worked;
        private boolean refused;

        private Run(Run before) {
            this.before = before;
        }

        /// See [dev.tenon.platform.cli.Console#offer].
        ///
        /// @throws IllegalStateException if nobody waits for it any more
        void offer(Supplier<List<Object>> offered) {
            synchronized (Runs.this) {
                if (refused) {
                    throw new IllegalStateException("it began its work too late; the version before it goes on");
                }
                things = offered;
                before = null;
                worked = true;
                Runs.this.notifyAll();
            }
        }

        /// {@return what the run before it has; else an empty list}
        List<Object> offered() {
            Supplier<List<Object>> of;
            synchronized (Runs.this) {
                of = before == null ? null : before.things;
            }
            return of == null ? List.of() : of.get();
        }

        /// {@return whether another run does the work}
        boolean isSucceeded() {
            synchronized (Runs.this) {
                return all.stream().anyMatch(run -> run != this && run.worked);
            }
        }

        /// {@return whether another run does the work still, and whoever began this one hears of its failures}
        boolean isTrial() {
            synchronized (Runs.this) {
                return before != null;
            }
        }

        /// Keeps why a trial failed; the first reason counts.
        void failed(Throwable why) {
            synchronized (Runs.this) {
                failure = failure == null ? why : failure;
            }
        }

        void ended(int result) {
            synchronized (Runs.this) {
                all.remove(this);
                things = null;
                status = before == null ? result : status;
                Runs.this.notifyAll();
            }
        }

        /// Waits until it does its work. One for which nobody waits any more cannot begin.
        ///
        /// @param limit how long
        /// @throws IllegalStateException if it ends before, or does not begin in time
        /// @throws InterruptedException if the thread is interrupted
        void awaitWork(Duration limit) throws InterruptedException {
            long end = System.nanoTime() + limit.toNanos();
            synchronized (Runs.this) {
                try {
                    while (!worked && all.contains(this) && System.nanoTime() - end < 0) {
                        TimeUnit.NANOSECONDS.timedWait(Runs.this, end - System.nanoTime());
                    }
                } finally {
                    refused = !worked;
                }
                if (!worked && all.contains(this)) {
                    throw new IllegalStateException("it did not begin its work within " + limit.toSeconds() + " s");
                }
                if (!worked) {
                    throw failure == null
                            ? new IllegalStateException("it ended at once, without a reason")
                            : new IllegalStateException(failure);
                }
            }
        }
    }

    /// Adds the first run.
    synchronized Run first() {
        return add(null);
    }

    /// {@return whether a run works that another one can take the place of}
    synchronized boolean canBeSucceeded() {
        return all.stream().anyMatch(run -> run.worked);
    }

    /// Adds a run that shall take the place of the one that works.
    ///
    /// @throws IllegalStateException if none does any more
    synchronized Run next() {
        return add(all.stream()
                .filter(run -> run.worked)
                .reduce((a, b) -> b)
                .orElseThrow(() -> new IllegalStateException("the running command has ended")));
    }

    private Run add(Run before) {
        Run run = new Run(before);
        all.add(run);
        return run;
    }

    /// Waits until all have ended.
    ///
    /// @return the status of the last one that did the work, or of the first one
    /// @throws InterruptedException if the thread is interrupted
    synchronized int awaitEnd() throws InterruptedException {
        while (!all.isEmpty()) {
            wait();
        }
        return status;
    }
}
