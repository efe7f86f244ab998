package dev.tenon.platform.core.engine;

import dev.tenon.api.error.OutOfResourcesException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs texts that do not belong together: each sequence that is free takes one text after the other, so that
/// texts share steps.
final class TextRunner {
    private final PlacedModel model;
    private final List<int[]> texts;
    private final Each each;
    private final AtomicInteger next = new AtomicInteger();

    /// What is done with each text.
    @FunctionalInterface
    interface Each {
        /// Runs a text; called on several threads at once, each with another session.
        ///
        /// @param session empty
        /// @param index of the text
        /// @param tokens of the text
        void run(ModelSession session, int index, int[] tokens);
    }

    TextRunner(PlacedModel model, List<int[]> texts, Each each) {
        this.model = model;
        this.texts = texts;
        this.each = each;
    }

    /// Runs all texts, and returns when they have ended.
    void run() {
        List<ModelSession> sessions = sessions();
        try {
            if (sessions.size() == 1) {
                work(sessions.getFirst());
            } else if (!sessions.isEmpty()) {
                inParallel(sessions);
            }
        } finally {
            sessions.forEach(ModelSession::close);
        }
    }

    /// As many as there are texts, if so many are free and the cache has room for all of them.
    private List<ModelSession> sessions() {
        int longest = texts.stream().mapToInt(text -> text.length).max().orElse(0);
        int most = Math.min(texts.size(), model.sequencesOf(longest));
        List<ModelSession> sessions = new ArrayList<>();
        while (sessions.size() < most) {
            try {
                sessions.add(model.newSession());
            } catch (OutOfResourcesException e) {
                if (sessions.isEmpty()) {
                    throw e;
                }
                return sessions; // the others are taken: these do the work
            }
        }
        return sessions;
    }

    private void inParallel(List<ModelSession> sessions) {
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("tenon-embed").factory())) {
            List<? extends Future<?>> workers =
                    sessions.stream().map(s -> threads.submit(() -> work(s))).toList();
            await(workers, threads);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private static void await(List<? extends Future<?>> workers, ExecutorService threads) throws ExecutionException {
        try {
            for (Future<?> worker : workers) {
                worker.get();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow(); // interrupts them; closing waits for their ends
            Thread.currentThread().interrupt();
            throw ModelSession.interrupted();
        }
    }

    private void work(ModelSession session) {
        for (int i = next.getAndIncrement(); i < texts.size(); i = next.getAndIncrement()) {
            session.truncate(0);
            each.run(session, i, texts.get(i));
        }
    }
}
