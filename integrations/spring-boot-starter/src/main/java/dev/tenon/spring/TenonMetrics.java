package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.metrics.FinishedGeneration;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// Meters of models and their answers, named as OpenTelemetry names those of servers of models where it does.
final class TenonMetrics implements MeterBinder, Consumer<FinishedGeneration> {
    private final Model model;
    private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();

    TenonMetrics(Model model) {
        this.model = model;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Tags tags = Tags.of("gen_ai.request.model", model.name());
        Gauge.builder("tenon.requests.running", model, Model::runningRequests)
                .description("Requests that run, and texts that are embedded")
                .tags(tags)
                .register(registry);
        Gauge.builder("tenon.requests.waiting", model, Model::waitingRequests)
                .description("Requests that wait for their turn")
                .tags(tags)
                .register(registry);
        registries.add(registry);
    }

    @Override
    public void accept(FinishedGeneration generation) {
        registries.forEach(registry -> record(registry, generation));
    }

    private static void record(MeterRegistry registry, FinishedGeneration generation) {
        Tags tags = Tags.of(
                "gen_ai.operation.name",
                "chat",
                "gen_ai.provider.name",
                TenonChatModel.PROVIDER,
                "gen_ai.request.model",
                generation.model());
        Usage usage = generation.usage();
        time(registry, tags, "gen_ai.server.request.duration", "Answers, with the wait for a turn", generation.time());
        time(
                registry,
                tags,
                "gen_ai.server.time_to_first_token",
                "The time until the first text",
                generation.firstToken());
        if (usage.generatedTokens() > 1) {
            Duration each = Duration.ofNanos(usage.decodeNanos() / (usage.generatedTokens() - 1));
            time(registry, tags, "gen_ai.server.time_per_output_token", "Each token after the first one", each);
            DistributionSummary.builder("tenon.tokens.per.second")
                    .description("Tokens generated a second, after the first one of an answer")
                    .tags(tags)
                    .register(registry)
                    .record(usage.decodeTokensPerSecond());
        }
        count(registry, tags, "input", usage.promptTokens());
        count(registry, tags, "cached", usage.cachedTokens());
        count(registry, tags, "output", usage.generatedTokens());
    }

    private static void time(MeterRegistry registry, Tags tags, String name, String what, Duration time) {
        Timer.builder(name).description(what).tags(tags).register(registry).record(time);
    }

    private static void count(MeterRegistry registry, Tags tags, String type, int tokens) {
        Counter.builder("tenon.tokens")
                .description("Tokens that ran for prompts, that were computed before, that were generated")
                .baseUnit("tokens")
                .tags(tags.and("gen_ai.token.type", type))
                .register(registry)
                .increment(tokens);
    }
}
