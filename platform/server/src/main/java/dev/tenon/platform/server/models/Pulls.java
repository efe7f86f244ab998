package dev.tenon.platform.server.models;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.server.models.ModelStore.PullProgress;
import dev.tenon.platform.server.models.ModelStore.PullState;
import java.util.HashMap;
import java.util.Map;

/// Downloads models: one download of a name at a time, which all who ask for it hear of. It ends when nobody listens
/// any more; what came is kept for the next one. Safe for any thread.
final class Pulls {
    private static final long LEAST_MILLIS = 100;

    private final ModelStore store;
    private final Map<String, Pull> running = new HashMap<>();

    Pulls(ModelStore store) {
        this.store = store;
    }

    /// Downloads a model, or listens to the download that runs. Blocks until it has ended.
    ///
    /// @param source repository and quantisation
    /// @param progress hears the states on the calling thread, at most ten a second
    /// @throws TenonException if it fails
    /// @throws InterruptedException if the thread is interrupted
    void pull(String source, PullProgress progress) throws InterruptedException {
        Pull pull;
        synchronized (running) {
            pull = running.get(source);
            if (pull == null) {
                pull = new Pull(source);
                running.put(source, pull);
                pull.thread.start();
            }
            pull.join();
        }
        try {
            pull.follow(progress);
        } finally {
            pull.leave();
        }
    }

    /// A download and its listeners.
    private final class Pull {
        private final String source;
        private final Thread thread;
        /// Guarded by this, as are those below.
        private PullState state = PullState.of("pulling manifest");
        private int listeners;
        private boolean ended;
        private TenonException failure;

        Pull(String source) {
            this.source = source;
            this.thread = Thread.ofVirtual().name("tenon-pull").unstarted(this::run);
        }

        private void run() {
            TenonException failed = null;
            try {
                store.pull(source, this::at);
            } catch (TenonException e) {
                failed = e;
            } catch (RuntimeException | LinkageError e) {
                failed = new TenonException(ErrorCode.DOWNLOAD, source + " was not downloaded: " + e, e);
            } finally {
                synchronized (running) {
                    running.remove(source, this);
                }
                end(failed);
            }
        }

        private synchronized void end(TenonException failed) {
            ended = true;
            failure = failed;
            notifyAll();
        }

        private synchronized void at(PullState now) {
            state = now;
            notifyAll();
        }

        synchronized void join() {
            listeners++;
        }

        void leave() {
            synchronized (running) {
                synchronized (this) {
                    listeners--;
                    if (listeners > 0 || ended) {
                        return;
                    }
                }
                running.remove(source, this);
            }
            thread.interrupt();
        }

        void follow(PullProgress progress) throws InterruptedException {
            PullState told = null;
            while (true) {
                PullState now;
                boolean last;
                synchronized (this) {
                    while (state.equals(told) && !ended) {
                        wait();
                    }
                    now = state;
                    last = ended;
                }
                if (!now.equals(told)) {
                    progress.at(now);
                    told = now;
                }
                if (last) {
                    break;
                }
                Thread.sleep(LEAST_MILLIS); // so that a fast download is not slowed down by telling of it
            }
            synchronized (this) {
                if (failure != null) {
                    throw failure;
                }
            }
        }
    }
}
