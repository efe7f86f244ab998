package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.graph.Graph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// Embeds texts: each sequence that is free takes one text after the other, so that texts share steps.
final class Embedder {
    private final PlacedModel model;
    private final List<int[]> texts;
    private final Pooling pooling;
    private final boolean normalize;
    private final int width;
    private final float[][] vectors;
    private final AtomicInteger next = new AtomicInteger();

    Embedder(PlacedModel model, EmbeddingRequest request) {
        this.model = model;
        this.texts = request.texts();
        this.pooling = request.pooling().orElseGet(() -> ownPooling(model));
        this.normalize = request.normalize();
        this.width = model.width(Graph.HIDDEN);
        this.vectors = new float[texts.size()][];
    }

    /// The pooling that a file names; numbers as GGUF has them.
    private static Pooling ownPooling(PlacedModel model) {
        String key = model.config().architecture() + ".pooling_type";
        return switch (model.file().metadata().integer(key).orElse(3)) {
            case 1 -> Pooling.MEAN;
            case 2 -> Pooling.CLS;
            default -> Pooling.LAST;
        };
    }

    /// {@return the vector of each text}
    List<float[]> run() {
        List<Session> sessions = sessions();
        try {
            if (sessions.size() == 1) {
                work(sessions.getFirst());
            } else if (!sessions.isEmpty()) {
                inParallel(sessions);
            }
        } finally {
            sessions.forEach(Session::close);
        }
        return List.of(vectors);
    }

    /// As many as there are texts, if so many are free and the cache has room for all of them.
    private List<Session> sessions() {
        int longest = texts.stream().mapToInt(text -> text.length).max().orElse(0);
        int most = Math.min(texts.size(), model.sequencesOf(longest));
        List<Session> sessions = new ArrayList<>();
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

    private void inParallel(List<Session> sessions) {
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

    private void work(Session session) {
        for (int i = next.getAndIncrement(); i < texts.size(); i = next.getAndIncrement()) {
            session.truncate(0);
            vectors[i] = embed(session, texts.get(i));
        }
    }

    private float[] embed(Session session, int[] text) {
        double[] sum = new double[width];
        int only = pooling == Pooling.CLS ? 0 : text.length - 1;
        session.evaluate(text, pooling == Pooling.LAST ? Rows.LAST : Rows.ALL, Graph.HIDDEN, (index, row) -> {
            if (pooling == Pooling.MEAN || index == only) {
                Arrays.setAll(sum, i -> sum[i] + row[i]);
            }
        });
        double factor = pooling == Pooling.MEAN ? 1.0 / text.length : 1;
        if (normalize) {
            double square = Arrays.stream(sum).map(v -> v * v).sum();
            factor = square > 0 ? 1 / Math.sqrt(square) : 0;
        }
        float[] vector = new float[width];
        for (int i = 0; i < width; i++) {
            vector[i] = (float) (sum[i] * factor);
        }
        return vector;
    }
}
