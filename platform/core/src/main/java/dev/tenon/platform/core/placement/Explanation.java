package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.PackedKernel;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.control.Choice;
import dev.tenon.platform.core.control.Choice.Candidate;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Takes the choices of a placement as [Placer] does, but keeps all candidates with the reasons.
public final class Explanation {
    private final ServiceRegistry registry;
    private final EngineConfig config;
    private final LoadRequest request;
    private final GgufFile file;
    private final List<Choice> choices = new ArrayList<>();

    public Explanation(ServiceRegistry registry, EngineConfig config, LoadRequest request, GgufFile file) {
        this.registry = registry;
        this.config = config;
        this.request = request;
        this.file = file;
    }

    public List<Choice> choices() {
        Optional<ModelArchitecture> architecture = architecture();
        for (TensorInfo tensor : file.tensors()) {
            format(tensor);
        }
        if (architecture.isEmpty()) {
            return choices;
        }
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        ModelDefinition definition;
        ModelWeights weights;
        try {
            definition = architecture.get().define(new ModelSource(file.metadata(), tensors));
            weights = ModelWeights.find(file, definition.graph(), registry);
        } catch (TenonException e) {
            Candidate refused =
                    new Candidate(architecture.get().id(), architecture.get().getClass(), false, e.getMessage());
            choices.add(new Choice("model", file.path().getFileName().toString(), List.of(refused)));
            return choices;
        }
        Optional<Backend> backend = backend(definition, weights);
        backend.ifPresent(b -> devices(b, definition, weights));
        return choices;
    }

    /// Says that nothing installed is what is wanted, where that is so.
    private static List<Candidate> orAbsent(List<Candidate> candidates, boolean present, String name, String what) {
        if (present) {
            return candidates;
        }
        List<Candidate> all = new ArrayList<>(candidates);
        all.add(new Candidate(name, null, false, "no bundle that runs offers " + what));
        return all;
    }

    private Optional<ModelArchitecture> architecture() {
        String id = file.metadata().string("general.architecture").orElse("");
        List<String> problem = new ArrayList<>();
        Optional<ModelArchitecture> chosen = chosen(() -> registry.architecture(id), problem);
        List<Candidate> candidates = registry.architectures().stream()
                .map(a ->
                        candidate(a.id(), a, chosen, a.id().equals(id) ? null : "the model's is '" + id + "'", problem))
                .toList();
        boolean present = registry.architectures().stream().anyMatch(a -> a.id().equals(id));
        choices.add(new Choice(
                "architecture",
                "general.architecture " + id,
                orAbsent(candidates, present, id, "the architecture '" + id + "'")));
        return chosen;
    }

    private void format(TensorInfo tensor) {
        List<String> problem = new ArrayList<>();
        Optional<QuantFormat> chosen = chosen(() -> registry.format(tensor.ggmlType()), problem);
        List<Candidate> candidates = registry.formats().stream()
                .map(f -> candidate(
                        f.id(),
                        f,
                        chosen,
                        f.ggmlType() == tensor.ggmlType()
                                ? null
                                : "decodes type " + f.ggmlType() + ", the tensor has type " + tensor.ggmlType(),
                        problem))
                .toList();
        boolean present = registry.formats().stream().anyMatch(f -> f.ggmlType() == tensor.ggmlType());
        String type = "type " + tensor.ggmlType();
        choices.add(new Choice("format", tensor.name(), orAbsent(candidates, present, type, "a format of " + type)));
    }

    /// Looks a service up; that several have the id becomes the reason of each.
    private static <S> Optional<S> chosen(Supplier<Optional<S>> look, List<String> problem) {
        try {
            return look.get();
        } catch (TenonException e) {
            problem.add(e.getMessage());
            return Optional.empty();
        }
    }

    private static <S> Candidate candidate(
            String name, S service, Optional<S> chosen, String mismatch, List<String> problem) {
        boolean taken = chosen.isPresent() && chosen.get() == service;
        String reason = mismatch != null
                ? mismatch
                : taken
                        ? "has the id"
                        : problem.isEmpty() ? "has the id, but a setting prefers another" : problem.getFirst();
        return new Candidate(name, service.getClass(), taken, reason);
    }

    private Optional<Backend> backend(ModelDefinition definition, ModelWeights weights) {
        String wanted = request.backend().isEmpty() ? config.backend() : request.backend();
        List<Candidate> candidates = new ArrayList<>();
        Backend taken = null;
        for (Backend backend : registry.backends()) {
            String refusal = refusal(backend, wanted, definition, weights);
            if (refusal == null && taken != null) {
                refusal = "rank " + backend.rank() + " is below " + taken.id() + "'s " + taken.rank();
            }
            boolean take = refusal == null;
            taken = take ? backend : taken;
            String reason =
                    take ? "rank " + backend.rank() + ", " + backend.probe().reason() : refusal;
            candidates.add(new Candidate(backend.id(), backend.getClass(), take, reason));
        }
        boolean present = wanted.equals("auto") || registry.backends().stream().anyMatch(b -> b.id().equals(wanted));
        choices.add(new Choice(
                "backend",
                "setting backend=" + wanted,
                orAbsent(candidates, present, wanted, "the backend '" + wanted + "'")));
        return Optional.ofNullable(taken);
    }

    /// Why a backend cannot be taken, or null.
    private String refusal(Backend backend, String wanted, ModelDefinition definition, ModelWeights weights) {
        if (!wanted.equals("auto") && !wanted.equals(backend.id())) {
            return "setting backend=" + wanted + " names another";
        }
        if (wanted.equals("auto") && backend.rank() < 0) {
            return "rank " + backend.rank() + ": used only when it is named";
        }
        List<String> problem = new ArrayList<>();
        if (chosen(() -> registry.backend(backend.id()), problem)
                .filter(b -> b == backend)
                .isEmpty()) {
            return problem.isEmpty() ? "a setting prefers another of the same id" : problem.getFirst();
        }
        try {
            Probe probe = backend.probe();
            if (!probe.available()) {
                return "not available: " + probe.reason();
            }
            try (Device device = backend.open(options(backend))) {
                String unsupported = definition.graph().ops().stream()
                        .map(op -> device.compiler().supports(op, weights, registry.kernelProviders()))
                        .filter(support -> support.level() == Support.Level.NONE)
                        .map(Support::reason)
                        .distinct()
                        .collect(Collectors.joining(", "));
                return unsupported.isEmpty() ? null : "does not support " + unsupported;
            }
        } catch (TenonException e) {
            return e.getMessage();
        } catch (RuntimeException | LinkageError e) {
            return e.toString();
        }
    }

    private DeviceOptions options(Backend backend) {
        return new DeviceOptions(deviceId(), 1, config.backendSettings(backend.settings(), request.settings()));
    }

    private String deviceId() {
        return request.device().isEmpty() ? config.device() : request.device();
    }

    private void devices(Backend taken, ModelDefinition definition, ModelWeights weights) {
        try (Device device = taken.open(options(taken))) {
            List<Candidate> candidates = new ArrayList<>();
            for (Backend backend : registry.backends()) {
                candidates.addAll(devices(backend, backend == taken ? device : null));
            }
            String asked = deviceId();
            choices.add(new Choice("device", asked.isEmpty() ? "the first" : "setting device=" + asked, candidates));
            for (Op op : definition.graph().ops()) {
                kernels(device, op, weights);
            }
        }
    }

    /// The devices of a backend; `open` is the one that would be used, or null if the backend is
    /// not taken.
    private List<Candidate> devices(Backend backend, Device open) {
        String asked = deviceId();
        try {
            if (!backend.probe().available()) {
                return List.of(new Candidate(
                        "none of " + backend.id(),
                        backend.getClass(),
                        false,
                        "not available: " + backend.probe().reason()));
            }
            List<Candidate> candidates = new ArrayList<>();
            for (DeviceInfo info : backend.devices()) {
                boolean taken = open != null && info.id().equals(open.info().id());
                String reason = taken
                        ? asked.isEmpty() ? "the first of " + backend.id() : "setting device=" + asked
                        : open == null
                                ? "backend " + backend.id() + " is not taken"
                                : "the choice is " + open.info().id();
                candidates.add(new Candidate(info.id() + " " + info.name(), backend.getClass(), taken, reason));
            }
            return candidates;
        } catch (RuntimeException | LinkageError e) {
            return List.of(new Candidate("none of " + backend.id(), backend.getClass(), false, e.toString()));
        }
    }

    private void kernels(Device device, Op op, ModelWeights weights) {
        Compiler compiler = device.compiler();
        Support support = compiler.supports(op, weights, registry.kernelProviders());
        List<Candidate> candidates = new ArrayList<>();
        candidates.add(new Candidate(
                support.level().name().toLowerCase(java.util.Locale.ROOT),
                compiler.getClass(),
                support.level() != Support.Level.NONE,
                support.reason()));
        for (KernelProvider provider : registry.kernelProviders()) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel.op().equals(op.kind())) {
                    boolean used = candidates.stream().skip(1).anyMatch(Candidate::taken);
                    candidates.add(offered(provider, kernel, device, op, weights, support, used));
                }
            }
        }
        String weight =
                op.weights().isEmpty() ? "" : " " + op.weights().getFirst().name();
        String output =
                op.outputs().isEmpty() ? "" : " -> " + op.outputs().getFirst().name();
        choices.add(new Choice("kernel", op.kind() + weight + output, candidates));
    }

    private static Candidate offered(
            KernelProvider provider,
            Kernel kernel,
            Device device,
            Op op,
            ModelWeights weights,
            Support support,
            boolean used) {
        Class<?> origin = provider.getClass();
        List<String> formats = op.weights().stream()
                .map(weight -> weights.format(weight.name()).id())
                .distinct()
                .toList();
        boolean named = names(support.reason(), kernel.name());
        String refusal = null;
        if (!kernel.deviceKind().equals(device.info().kind())) {
            refusal = "is for devices of kind " + kernel.deviceKind() + ", the device is of kind "
                    + device.info().kind();
        } else if (!formats.contains(kernel.format())) {
            refusal = "reads " + kernel.format() + ", the weight is " + String.join(", ", formats);
        } else if (kernel instanceof PackedKernel packed && !accepts(packed, op)) {
            refusal = "does not take rows of " + op.weights().getFirst().cols() + " elements";
        } else if (named && used) {
            refusal = "another bundle's kernel of that name came first";
        } else if (!named) {
            refusal = "the backend takes another: " + support.reason();
        }
        return refusal == null
                ? new Candidate(kernel.name(), origin, true, "made for the format and taken by the backend")
                : new Candidate(kernel.name(), origin, false, refusal);
    }

    private static boolean accepts(PackedKernel kernel, Op op) {
        return op.weights().stream().allMatch(weight -> kernel.accepts(weight.cols()));
    }

    /// Whether a text has a name as a whole word.
    private static boolean names(String text, String name) {
        return Pattern.compile("(?<![\\w.])" + Pattern.quote(name) + "(?![\\w.])")
                .matcher(text)
                .find();
    }
}
