package dev.tenon.platform.core.engine;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Kernel;
import dev.tenon.api.device.KernelProvider;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.control.Choice;
import dev.tenon.platform.core.control.Choice.Candidate;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// Takes the choices of a placement as [Placer] does, but keeps all candidates with the reasons.
final class Explanation {
    private final ServiceRegistry registry;
    private final EngineConfig config;
    private final LoadRequest request;
    private final GgufFile file;
    private final List<Choice> choices = new ArrayList<>();

    Explanation(ServiceRegistry registry, EngineConfig config, LoadRequest request, GgufFile file) {
        this.registry = registry;
        this.config = config;
        this.request = request;
        this.file = file;
    }

    List<Choice> choices() {
        Optional<ModelArchitecture> architecture = architecture();
        for (TensorInfo tensor : file.tensors()) {
            format(tensor);
        }
        if (architecture.isEmpty()) {
            return choices;
        }
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        ModelDefinition definition = architecture.get().define(new ModelSource(file.metadata(), tensors));
        ModelWeights weights = ModelWeights.find(file, definition.graph(), registry);
        Optional<Backend> backend = backend(definition, weights);
        backend.ifPresent(b -> devices(b, definition, weights));
        return choices;
    }

    private Optional<ModelArchitecture> architecture() {
        String id = file.metadata().string("general.architecture").orElse("");
        List<String> problem = new ArrayList<>();
        Optional<ModelArchitecture> chosen = chosen(() -> registry.architecture(id), problem);
        List<Candidate> candidates = registry.architectures().stream()
                .map(a ->
                        candidate(a.id(), a, chosen, a.id().equals(id) ? null : "the model's is '" + id + "'", problem))
                .toList();
        choices.add(new Choice("architecture", "general.architecture " + id, candidates));
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
        choices.add(new Choice("format", tensor.name(), candidates));
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
        choices.add(new Choice("backend", "setting backend=" + wanted, candidates));
        return Optional.ofNullable(taken);
    }

    /// Why a backend cannot be taken, or null.
    private String refusal(Backend backend, String wanted, ModelDefinition definition, ModelWeights weights) {
        if (!wanted.equals("auto") && !wanted.equals(backend.id())) {
            return "setting backend=" + wanted + " names another";
        }
        try {
            if (registry.backend(backend.id()).filter(b -> b == backend).isEmpty()) {
                return "a setting prefers another of the same id";
            }
            Probe probe = backend.probe();
            if (!probe.available()) {
                return probe.reason();
            }
            try (Device device = backend.open(options())) {
                String unsupported = definition.graph().ops().stream()
                        .map(op -> device.compiler().supports(op, weights, registry.kernelProviders()))
                        .filter(support -> support.level() == Support.Level.NONE)
                        .map(Support::reason)
                        .distinct()
                        .collect(Collectors.joining(", "));
                return unsupported.isEmpty() ? null : "does not support " + unsupported;
            }
        } catch (RuntimeException | LinkageError e) {
            return e.toString();
        }
    }

    private DeviceOptions options() {
        String id = request.device().isEmpty() ? config.device() : request.device();
        Map<String, String> settings = new HashMap<>(config.backendSettings());
        settings.putAll(request.settings());
        return new DeviceOptions(id, 1, settings);
    }

    private void devices(Backend backend, ModelDefinition definition, ModelWeights weights) {
        try (Device device = backend.open(options())) {
            List<Candidate> candidates = new ArrayList<>();
            String asked = options().deviceId();
            for (DeviceInfo info : backend.devices()) {
                boolean taken = info.id().equals(device.info().id());
                String why = asked.isEmpty() ? "the first" : "setting device=" + asked;
                candidates.add(new Candidate(
                        info.id() + " " + info.name(),
                        backend.getClass(),
                        taken,
                        taken ? why : "the choice is " + why));
            }
            choices.add(new Choice("device", backend.id(), candidates));
            for (Op op : definition.graph().ops()) {
                kernels(device, op, weights);
            }
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
        List<String> formats = op.weights().stream()
                .map(Weight::name)
                .map(name -> weights.format(name).id())
                .distinct()
                .toList();
        for (KernelProvider provider : registry.kernelProviders()) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel.op().equals(op.kind())) {
                    candidates.add(offered(provider, kernel, device, formats, support));
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
            KernelProvider provider, Kernel kernel, Device device, List<String> formats, Support support) {
        boolean taken = support.reason().contains(kernel.name());
        String reason;
        if (taken) {
            reason = "made for the format and taken by the backend";
        } else if (!kernel.deviceKind().equals(device.info().kind())) {
            reason = "is for devices of kind " + kernel.deviceKind();
        } else if (!formats.contains(kernel.format())) {
            reason = "reads " + kernel.format() + ", the weight is " + String.join(", ", formats);
        } else {
            reason = "the backend takes another: " + support.reason();
        }
        return new Candidate(kernel.name(), provider.getClass(), taken, reason);
    }
}
