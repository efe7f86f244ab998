package dev.tenon.platform.core.placement;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.graph.Op;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.tuned.CodeDigest;
import dev.tenon.platform.core.tuned.TunedFolder;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// Finds the tuned settings of a model on a device. What a user gives is stronger: tuned settings
/// hold only beside the settings that they were found with.
final class Tuning {
    private static final String THREADS = "threads";

    private final Decision decision;
    private final Backend backend;

    /// @param decision with the model's definition and weights
    /// @param backend a backend that is asked to run it
    Tuning(Decision decision, Backend backend) {
        this.decision = decision;
        this.backend = backend;
    }

    /// {@return what the model is to run with on the backend}
    Status status() {
        EngineConfig config = decision.config();
        if (!config.usesTuned(decision.request().settings())) {
            return new Status(Map.of(), "not used: setting tuned=off");
        }
        TunedFolder folder = config.tunedFolder();
        if (!folder.hasAny(backend.id())) {
            return Status.NONE;
        }
        TunedIdentity now = identity();
        Optional<TunedSettings> found = folder.find(now);
        if (found.isEmpty()) {
            return Status.NONE;
        }
        TunedSettings tuned = found.get();
        Optional<String> stale = tuned.identity().staleFor(now);
        if (stale.isPresent()) {
            return new Status(Map.of(), "not used: " + stale.get() + ". Run 'tenon tune' again");
        }
        if (tuned.settings().isEmpty()) {
            return new Status(Map.of(), "the defaults are best: " + tuned.result());
        }
        return against(tuned)
                .map(why -> new Status(Map.of(), "not used: " + why))
                .orElseGet(() -> new Status(tuned.settings(), tuned.result()));
    }

    /// A value that the backend does not try speaks against tuned settings.
    private Optional<String> against(TunedSettings tuned) {
        Map<String, Knob> knobs = backend.knobs().stream().collect(Collectors.toMap(Knob::setting, knob -> knob));
        for (Map.Entry<String, String> entry : tuned.settings().entrySet()) {
            Knob knob = knobs.get(entry.getKey());
            if (knob == null || !knob.values().contains(entry.getValue())) {
                return Optional.of(
                        entry.getKey() + "=" + entry.getValue() + " is not among what " + backend.id() + " tries");
            }
        }
        return Optional.empty();
    }

    /// What a user gave otherwise than it is by default: tuned settings were found beside it, and hold beside it only.
    private String given() {
        EngineConfig config = decision.config();
        Map<String, String> given = new HashMap<>();
        if (config.threads() > 0 && config.threads() != Runtime.getRuntime().availableProcessors()) {
            given.put(THREADS, Integer.toString(config.threads()));
        }
        for (Setting setting : backend.settings()) {
            String value = config.find(backend.id(), setting, decision.request().settings())
                    .value();
            if (!value.equals(setting.defaultValue())) {
                given.put(setting.name(), value);
            }
        }
        return TunedSettings.line(given);
    }

    /// {@return the settings that a backend is handed, tuned ones over them}
    ///
    /// @param plain values by name
    /// @param tuned tuned values by name
    static Map<String, String> over(Map<String, String> plain, Map<String, String> tuned) {
        Map<String, String> all = new HashMap<>(plain);
        tuned.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(THREADS))
                .forEach(entry -> all.put(entry.getKey(), entry.getValue()));
        return all;
    }

    /// {@return the number of threads, a tuned one if there is one}
    ///
    /// @param plain what the settings say
    /// @param tuned tuned values by name
    static int threads(int plain, Map<String, String> tuned) {
        return tuned.containsKey(THREADS) ? Integer.parseInt(tuned.get(THREADS)) : plain;
    }

    /// {@return what tuned settings of this model on this backend are kept with}
    TunedIdentity identity() {
        DeviceInfo info = device().orElse(null);
        List<Object> code = new ArrayList<>(decision.kernels());
        code.add(backend);
        String name = info == null ? "unknown" : info.id() + " " + info.name();
        return new TunedIdentity(backend.id(), name, driver(info), given(), CodeDigest.of(code), model());
    }

    private Optional<DeviceInfo> device() {
        String asked = decision.config().device();
        return backend.devices().stream()
                .filter(info -> asked.isEmpty()
                        || info.id().equals(asked)
                        || info.details().containsValue(asked))
                .findFirst();
    }

    private String driver(DeviceInfo info) {
        List<String> facts = new ArrayList<>();
        if (info != null) {
            info.details().forEach((key, value) -> facts.add(key + " " + value));
        }
        facts.add("Java " + Runtime.version());
        decision.kernels().stream()
                .flatMap(provider -> provider.settings().stream())
                .filter(setting -> setting.atStart() && !setting.ofProcess().equals(setting.defaultValue()))
                .forEach(setting -> facts.add(setting.name() + "=" + setting.ofProcess()));
        return String.join(", ", facts);
    }

    /// Ops, shapes, types, what the cache holds: what the time of a step depends on, whatever the weights are.
    private String model() {
        List<String> facts = new ArrayList<>();
        facts.add(decision.config().keyType() + " " + decision.config().valueType() + " "
                + decision.request().fuse());
        decision.definition().graph().ops().stream().map(Op::kind).forEach(facts::add);
        decision.file().tensors().forEach(t -> facts.add(t.ggmlType() + " " + t.name() + " " + t.shape()));
        return TunedIdentity.digest(facts);
    }
}
