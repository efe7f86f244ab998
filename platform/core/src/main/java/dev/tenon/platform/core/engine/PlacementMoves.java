package dev.tenon.platform.core.engine;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.core.check.TrialLogits;
import dev.tenon.platform.core.media.FileTensors;
import dev.tenon.platform.core.media.TrialMedia;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.steps.StepLoop;
import dev.tenon.platform.core.tuned.TunedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Places a loaded model again: when a service that it uses goes, comes back or is replaced, and when the
/// configured backend changes. Placements belong to the model's loop once they are made.
final class PlacementMoves {
    private static final Logger LOG = LoggerFactory.getLogger(PlacementMoves.class);
    private static final long RETRY_MILLIS = 20;

    private final GgufFile file;
    private final LoadRequest request;
    private final ServiceRegistry registry;
    private final Supplier<EngineConfig> settings;
    private final Placer placer;
    private final int vocabularySize;
    private final int maxBatchTokens;
    private final Supplier<StepLoop> loop;
    private final Runnable forgetTemplate;
    /// Classes of services that were withdrawn while the model used them; it returns to them.
    private final Set<String> withdrawnClasses = ConcurrentHashMap.newKeySet();
    /// Not the placement itself, which would keep the classes of a removed bundle.
    private volatile Description last;

    /// What is known of a placement after it has ended.
    record Description(String backend, DeviceInfo device, PlanReport report, TunedModel.Status tuned) {
        static Description of(Placement placement) {
            return new Description(
                    placement.backend().id(),
                    placement.device().info(),
                    placement.plan().report(),
                    placement.tuned());
        }
    }

    /// @param first the placement that the model begins with
    /// @param loop the model's loop; asked only after it was made
    /// @param forgetTemplate has the chat template compiled again when it is next used
    PlacementMoves(
            Supplier<EngineConfig> settings,
            Placer placer,
            Placement first,
            int maxBatchTokens,
            Supplier<StepLoop> loop,
            Runnable forgetTemplate) {
        this.file = placer.file();
        this.request = placer.request();
        this.registry = placer.registry();
        this.settings = settings;
        this.placer = placer;
        this.vocabularySize = first.definition().config().vocabularySize();
        this.maxBatchTokens = maxBatchTokens;
        this.loop = loop;
        this.forgetTemplate = forgetTemplate;
        this.last = Description.of(first);
    }

    /// {@return the placement of the moment, or the last one that there was}
    Description last() {
        return last;
    }

    /// Ends the placement if it uses the service; the next step places the model again.
    void withdraw(Object service) {
        if (loop.get().placed().withdraw(service)) {
            withdrawnClasses.add(service.getClass().getName());
        }
        forgetTemplateOf(List.of(service));
    }

    /// Returns to a service that the model used before it was withdrawn; a new engine for chat templates may be
    /// the one to use.
    void returned(Object service) {
        forgetTemplateOf(List.of(service));
        if (withdrawnClasses.remove(service.getClass().getName())) {
            loop.get().placed().reconsider();
        }
    }

    /// Ends the placement if it uses a service that is no longer offered.
    void leaveWithdrawn() {
        Placement placement = loop.get().placed().placement();
        if (placement != null) {
            placement.services().stream().filter(s -> !registry.offers(s)).forEach(this::withdraw);
        }
    }

    /// Places the model again if it uses one of the services, which are no longer offered, and if its logits
    /// stay what they are.
    ///
    /// @param limit the largest error of the logits that passes
    /// @return how they differ, if they do
    /// @throws TenonException if it cannot be placed, or (`BUNDLE-007`) its logits differ by more; it has no
    ///     placement then
    Optional<String> replace(List<Object> services, String reason, double limit) {
        List<String> differences = new ArrayList<>();
        loop.get()
                .placed()
                .replace(
                        placement -> placement != null && uses(placement, services),
                        old -> placeAlike(old, limit, differences),
                        reason);
        forgetTemplateOf(services);
        return differences.stream().findFirst();
    }

    /// Places the model again if it uses one of the services, or has no placement since one could not be made
    /// with them. So the next replacement has logits to compare with.
    ///
    /// @throws TenonException if it cannot be placed; its next step tries again
    void putBack(List<Object> services, String reason) {
        loop.get()
                .placed()
                .replace(
                        placement -> placement == null || uses(placement, services),
                        old -> {
                            if (old != null) {
                                old.close();
                            }
                            return place(settings.get());
                        },
                        reason);
        forgetTemplateOf(services);
    }

    private static boolean uses(Placement placement, List<Object> services) {
        return services.stream().anyMatch(placement::uses);
    }

    private void forgetTemplateOf(List<Object> services) {
        if (services.stream().anyMatch(s -> s instanceof ChatTemplateEngine || s instanceof ModelArchitecture)) {
            forgetTemplate.run();
        }
    }

    private Placement placeAlike(Placement old, double limit, List<String> differences) {
        Optional<TrialLogits> before;
        try {
            before = Optional.of(trial(old)).filter(TrialLogits::finite);
        } catch (RuntimeException | LinkageError e) {
            LOG.info("{} gives no logits to compare new ones with: {}", name(), e.toString());
            before = Optional.empty();
        } finally {
            old.close();
        }
        Placement next = place(settings.get());
        try {
            TrialLogits after = trial(next);
            before.flatMap(logits -> logits.to(after)).ifPresent(difference -> {
                String what = next.layout().isPresent() ? "the rows of a small picture" : "the logits of a short text";
                String text = what + " on " + name() + " " + difference.text();
                if (!(difference.nmse() <= limit)) {
                    throw new TenonException(ErrorCode.BUNDLE_RESULTS, text);
                }
                differences.add(text);
            });
            return next;
        } catch (RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    private TrialLogits trial(Placement placement) {
        return placement.layout().isPresent()
                ? new TrialLogits(TrialMedia.rows(placement, new FileTensors(file, registry)::values))
                : TrialLogits.of(placement, maxBatchTokens);
    }

    private String name() {
        return file.path().getFileName().toString();
    }

    /// Places the model by the settings of the moment, if they select another backend than
    /// the current one.
    void reconfigure() {
        Placement current = loop.get().placed().placement();
        EngineConfig now = settings.get();
        if (current == null
                || !request.backend().isEmpty()
                || current.backend().id().equals(now.backend())
                || current.backend().id().equals(placer.backend(now))) {
            return;
        }
        loop.get().placed().move(place(now), "the configured backend changed");
        leaveWithdrawn(); // of services withdrawn while the model was placed
    }

    /// Places the model again; its vocabulary must have the same size as before.
    private Placement place(EngineConfig now) {
        Placement next = placer.place(now);
        try {
            ModelConfig found = next.definition().config();
            if (found.vocabularySize() != vocabularySize) {
                throw new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        "The new version of the architecture reads " + found.vocabularySize() + " tokens from "
                                + name() + "; the version before read " + vocabularySize
                                + ". Its sessions cannot continue: load the model again.");
            }
            last = Description.of(next);
            return next;
        } catch (RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    /// Places the model when it has no placement: tries again until `move.timeout.ms` is over, since a
    /// bundle that was withdrawn may be replaced.
    ///
    /// @param changesWait whether whoever changes services waits for the model meanwhile
    /// @return the placement; null where a change waits, which goes first
    Placement placeAgain(BooleanSupplier changesWait) {
        file.requireUnchanged();
        long deadline =
                System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.get().moveTimeoutMillis());
        while (true) {
            try {
                return place(settings.get());
            } catch (TenonException e) {
                if (changesWait.getAsBoolean()) {
                    return null;
                }
                if (System.nanoTime() >= deadline) {
                    throw new BackendException(
                            ErrorCode.BACKEND_WITHDRAWN,
                            "A bundle that the model was using was withdrawn, and nothing can take over: "
                                    + e.getMessage(),
                            0,
                            e);
                }
            }
            try {
                // Not until a service comes: device memory that another model frees helps too, and nobody tells of
                // that.
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BackendException(
                        ErrorCode.BACKEND_WITHDRAWN, "Interrupted while waiting for a replaced bundle", 0, e);
            }
        }
    }
}
