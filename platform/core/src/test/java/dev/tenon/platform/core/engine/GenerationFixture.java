package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.request;

import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

/// An engine with a device without arithmetic, and a subscriber that keeps what it gets.
abstract class GenerationFixture {
    static final int[] PROMPT = {5, 6, 7};

    final FakeBackend device = new FakeBackend("device", 1);
    /// Called when a generation has begun and nothing of it runs yet.
    volatile Runnable onBegin = () -> {};

    final FakeLlama llama = new FakeLlama();
    final ServiceRegistry registry = new ServiceRegistry();
    final TenonEngine engine = engine();

    private TenonEngine engine() {
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(llama);
        registry.add(new ByteLevelBpeProvider());
        registry.add((SamplerProvider) (params, vocabulary) -> {
            onBegin.run();
            return new DefaultSamplerProvider().create(params, vocabulary);
        });
        return new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    final LoadedModel model(int sequences) {
        return engine.load(request().toBuilder()
                .maxSequences(sequences)
                .contextLength(4 * MANY)
                .build());
    }

    /// Takes events, as many at once as it is told to ask for.
    static class Events implements Flow.Subscriber<GenerationEvent> {
        final List<GenerationEvent> all = Collections.synchronizedList(new ArrayList<>());
        final CompletableFuture<Void> end = new CompletableFuture<>();
        final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
        private final long first;

        Events(long first) {
            this.first = first;
        }

        @Override
        public void onSubscribe(Flow.Subscription to) {
            subscription.complete(to);
            if (first > 0) {
                to.request(first);
            }
        }

        @Override
        public void onNext(GenerationEvent event) {
            all.add(event);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            end.complete(null);
        }

        List<Integer> tokens() {
            return all.stream()
                    .filter(GenerationEvent.Token.class::isInstance)
                    .map(event -> ((GenerationEvent.Token) event).token().id())
                    .toList();
        }
    }

    static Usage result(Generation generation) throws Exception {
        return generation.result().toCompletableFuture().get();
    }
}
