package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Op;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The backend and the device of a [Decision], and what became of every other backend. Owns the open
/// device until it is taken.
final class BackendSelection implements AutoCloseable {
    /// What became of a backend.
    enum Outcome {
        /// It runs the model.
        TAKEN,
        /// A setting, or an id that several have, rules it out.
        EXCLUDED,
        /// Another one is better, or this machine lacks what it needs.
        PASSED_OVER,
        /// It could have run the model, but it cannot.
        REFUSED
    }

    /// A backend that was considered.
    ///
    /// @param backend the backend
    /// @param outcome what became of it
    /// @param reason why
    record Verdict(Backend backend, Outcome outcome, String reason) {}

    private final ServiceRegistry registry;
    private final EngineConfig config;
    private final List<Verdict> verdicts = new ArrayList<>();
    private final List<Support> supports = new ArrayList<>();
    private Backend backend;
    private Device device;
    private Map<String, String> settings;
    private Status tuned = Status.NONE;
    private Throwable failure;

    private BackendSelection(ServiceRegistry registry, EngineConfig config) {
        this.registry = registry;
        this.config = config;
    }

    /// Selects the first backend, by rank, that is available and supports the whole graph; or the one
    /// that is named. Those after it are not asked.
    ///
    /// @param decision with the model's definition and weights
    /// @return the selection, which may have failed
    static BackendSelection of(Decision decision) {
        BackendSelection selection = new BackendSelection(decision.registry(), decision.config());
        selection.select(decision);
        return selection;
    }

    private void select(Decision decision) {
        Map<Backend, String> excluded = excluded();
        for (Backend each : registry.backends()) {
            if (excluded.containsKey(each)) {
                verdicts.add(new Verdict(each, Outcome.EXCLUDED, excluded.get(each)));
            } else if (failure != null) {
                passOver(each, "not asked, because of what is wrong with another");
            } else if (backend != null) {
                String relation = each.rank() < backend.rank() ? " is below " : " equals ";
                passOver(each, rank(each) + relation + backend.id() + "'s " + backend.rank());
            } else if (!named() && each.rank() < 0) {
                passOver(each, "used only when it is named (" + rank(each) + ")");
            } else {
                ask(each, decision);
            }
        }
        if (failure == null && backend == null) {
            failure = unavailable(decision.file().path().getFileName().toString());
        }
    }

    /// The backends that are not asked whatever they can do, with the reason.
    private Map<Backend, String> excluded() {
        Map<Backend, String> excluded = new IdentityHashMap<>();
        for (Backend each : registry.backends()) {
            try {
                if (named() && !each.id().equals(config.backend())) {
                    excluded.put(each, "setting backend=" + config.backend() + " names another");
                } else if (registry.backend(each.id()).filter(b -> b == each).isEmpty()) {
                    excluded.put(each, "a setting prefers another of the same id");
                }
            } catch (TenonException e) {
                excluded.put(each, e.getMessage());
                failure = e;
            }
        }
        return excluded;
    }

    private BackendException unavailable(String model) {
        String reasons = verdicts.stream()
                .filter(verdict -> verdict.outcome() != Outcome.EXCLUDED)
                .map(verdict -> verdict.backend().id() + ": " + verdict.reason())
                .collect(Collectors.joining("; "));
        if (named() && reasons.isEmpty()) {
            return new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend '" + config.backend() + "' is not installed; installed backends: "
                            + Decision.list(registry.backends(), Backend::id)
                            + ". Choose one of them or auto, or install its bundle.");
        }
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                (named() ? "Backend " + config.backend() + " cannot run " : "No backend can run ")
                        + model + ": " + (reasons.isEmpty() ? "none is installed" : reasons)
                        + ". See 'tenon devices'.");
    }

    private boolean named() {
        return !config.backend().equals("auto");
    }

    private static String rank(Backend backend) {
        return "rank " + backend.rank();
    }

    private void passOver(Backend each, String reason) {
        verdicts.add(new Verdict(each, Outcome.PASSED_OVER, reason));
    }

    /// Takes a backend if it can run the model. One that fails makes the decision fail: a wrong
    /// setting or device is not a reason to run elsewhere.
    private void ask(Backend each, Decision decision) {
        try {
            Probe probe = each.probe();
            if (!probe.available()) {
                passOver(each, "not available: " + probe.reason());
                return;
            }
            Tuning tuning = new Tuning(decision, each);
            tuned = tuning.status();
            settings = Tuning.over(
                    config.backendSettings(each.settings(), decision.request().settings()), tuned.settings());
            device = each.open(DeviceOptions.builder()
                    .deviceId(config.device())
                    .threads(Tuning.threads(config.threads(), tuned.settings()))
                    .settings(settings)
                    .build());
            String unsupported = unsupported(decision);
            if (unsupported.isEmpty()) {
                backend = each;
                verdicts.add(new Verdict(each, Outcome.TAKEN, rank(each) + ", " + probe.reason()));
            } else {
                verdicts.add(new Verdict(each, Outcome.REFUSED, "does not support " + unsupported));
                close();
            }
        } catch (RuntimeException | LinkageError e) {
            failure = e;
            verdicts.add(new Verdict(
                    each, Outcome.REFUSED, e instanceof TenonException known ? known.getMessage() : e.toString()));
            close();
        }
    }

    private String unsupported(Decision decision) {
        supports.clear();
        for (Op op : decision.definition().graph().ops()) {
            supports.add(device.compiler().supports(op, decision.weights(), decision.kernels()));
        }
        return supports.stream()
                .filter(support -> support.level() == Support.Level.NONE)
                .map(Support::reason)
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /// {@return the open device, which the caller closes from now on}
    Device takeDevice() {
        Device taken = device;
        device = null;
        return taken;
    }

    /// Closes the device, unless it was taken.
    @Override
    public void close() {
        if (device != null) {
            takeDevice().close();
        }
    }

    /// {@return why no backend was selected, or null}
    Throwable failure() {
        return failure;
    }

    /// {@return the backend, or null if none can run the model}
    Backend backend() {
        return backend;
    }

    /// {@return the open device, or null if there is no backend, or the device was taken}
    Device device() {
        return device;
    }

    /// {@return the tuned settings among the backend's, and why there are none}
    Status tuned() {
        return tuned;
    }

    /// {@return the backend's settings}
    Map<String, String> settings() {
        return settings;
    }

    /// {@return what became of each backend}
    List<Verdict> verdicts() {
        return verdicts;
    }

    /// {@return how the device supports each op of the graph, in its order}
    List<Support> supports() {
        return supports;
    }
}
