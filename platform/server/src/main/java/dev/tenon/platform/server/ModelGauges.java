package dev.tenon.platform.server;

import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.server.metrics.Metrics;
import dev.tenon.platform.server.models.ServedModel;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/// What the metrics tell of the models at the moment.
final class ModelGauges {
    private ModelGauges() {}

    /// Has a model's state told with the metrics; once more changes nothing.
    ///
    /// @param metrics the metrics
    /// @param model the model
    static void register(Metrics metrics, ServedModel model) {
        String labels = Metrics.labels("model_name", model.spec().name());
        metrics.gauge(
                "num_requests_running",
                "Generations that run.",
                labels,
                () -> model.admission().running());
        metrics.gauge(
                "num_requests_waiting",
                "Generations that wait.",
                labels,
                () -> model.admission().queued());
        metrics.gauge(
                "kv_cache_usage_perc",
                "Used part of the KV cache, 0 to 1.",
                labels,
                () -> status(model, ModelGauges::usedPart));
        metrics.info(
                "cache_config_info",
                "Tokens of a page and number of pages.",
                labels,
                () -> status(model)
                        .filter(status -> status.pages() > 0)
                        .map(status -> Metrics.labels(
                                "block_size",
                                Integer.toString(status.pageTokens()),
                                "num_gpu_blocks",
                                Integer.toString(status.pages())))
                        .orElse(""));
        metrics.gauge(
                "kv_cache_kept_pages",
                "Pages kept for prompts that come again.",
                labels,
                () -> status(model, SchedulingStatus::keptPages));
        metrics.counter(
                "num_preemptions_total",
                "How often a generation lost its pages.",
                labels,
                () -> status(model, SchedulingStatus::preemptions));
    }

    private static double usedPart(SchedulingStatus status) {
        return status.pages() == 0 ? 0 : (double) (status.pages() - status.freePages()) / status.pages();
    }

    private static Optional<SchedulingStatus> status(ServedModel model) {
        return model.loaded()
                .filter(ScheduledModel.class::isInstance)
                .map(loaded -> ((ScheduledModel) loaded).scheduling());
    }

    /// A value of a loaded model; 0 for one that is not loaded.
    private static double status(ServedModel model, ToDoubleFunction<SchedulingStatus> value) {
        return status(model).map(value::applyAsDouble).orElse(0.0);
    }
}
