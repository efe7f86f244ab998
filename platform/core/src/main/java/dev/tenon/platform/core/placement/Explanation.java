package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelOffers;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.control.Selection.Candidate;
import dev.tenon.platform.core.control.ServiceKind;
import dev.tenon.platform.core.placement.BackendSelection.Outcome;
import dev.tenon.platform.core.placement.BackendSelection.Verdict;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Puts a [Decision] into words: each selection with all candidates. Decides nothing.
final class Explanation {
    private final Decision decision;
    private final BackendSelection selection;
    private final ServiceRegistry registry;
    private final List<Selection> selections = new ArrayList<>();

    Explanation(Decision decision) {
        this.decision = decision;
        this.selection = decision.selection();
        this.registry = decision.registry();
    }

    List<Selection> selections() {
        architecture();
        decision.file().tensors().forEach(this::format);
        for (ServiceKind kind : ServiceKind.values()) {
            if (kind.use() == ServiceKind.Use.BEST) {
                one(kind.word(), kind.type());
            }
        }
        ModelArchitecture architecture = decision.architecture();
        if (architecture != null && selection == null) {
            Candidate refused = new Candidate(architecture.id(), architecture.getClass(), false, failure());
            selections.add(
                    new Selection("model", decision.file().path().getFileName().toString(), List.of(refused)));
        } else if (architecture != null) {
            backend();
        }
        if (selection != null && selection.device() != null) {
            devices();
            tuned();
            List<Op> ops = decision.definition().graph().ops();
            for (int i = 0; i < ops.size(); i++) {
                kernels(ops.get(i), selection.supports().get(i));
            }
        }
        return selections;
    }

    private String failure() {
        return decision.failure() instanceof TenonException known
                ? known.getMessage()
                : decision.failure().toString();
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

    private void architecture() {
        String id = decision.file().metadata().string("general.architecture").orElse("");
        List<Candidate> candidates = registry.architectures().stream()
                .map(a -> candidate(
                        a.id(),
                        a,
                        a == decision.architecture(),
                        a.id().equals(id) ? null : "the model's is '" + id + "'",
                        decision.architecture() == null ? failure() : null))
                .toList();
        boolean present = registry.architectures().stream().anyMatch(a -> a.id().equals(id));
        selections.add(new Selection(
                "architecture",
                "general.architecture " + id,
                orAbsent(candidates, present, id, "the architecture '" + id + "'")));
    }

    /// A kind of which one is used, whatever the model.
    private void one(String kind, Class<?> type) {
        List<Candidate> candidates = registry.ranked(type).stream()
                .map(each -> new Candidate(
                        each.origin(),
                        each.type(),
                        each.used(),
                        "rank " + each.rank() + (each.used() ? "" : "; prefer." + kind + " can name it")))
                .toList();
        selections.add(new Selection(kind, "of all models", candidates));
    }

    private void format(TensorInfo tensor) {
        Optional<QuantFormat> chosen = Optional.empty();
        String[] problem = new String[1];
        try {
            chosen = registry.format(tensor.ggmlType());
        } catch (TenonException e) {
            problem[0] = e.getMessage();
        }
        QuantFormat taken = chosen.orElse(null);
        List<Candidate> candidates = registry.formats().stream()
                .map(f -> candidate(
                        f.id(),
                        f,
                        f == taken,
                        f.ggmlType() == tensor.ggmlType()
                                ? null
                                : "decodes type " + f.ggmlType() + ", the tensor has type " + tensor.ggmlType(),
                        problem[0]))
                .toList();
        boolean present = registry.formats().stream().anyMatch(f -> f.ggmlType() == tensor.ggmlType());
        String type = "type " + tensor.ggmlType();
        selections.add(
                new Selection("format", tensor.name(), orAbsent(candidates, present, type, "a format of " + type)));
    }

    /// A service that is looked up by its id.
    ///
    /// @param mismatch why its id does not fit, or null
    /// @param problem why none of that id was taken, or null
    private static Candidate candidate(String name, Object service, boolean taken, String mismatch, String problem) {
        String reason = mismatch;
        if (reason == null) {
            reason = taken ? "has the id" : problem != null ? problem : "has the id, but a setting prefers another";
        }
        return new Candidate(name, service.getClass(), taken, reason);
    }

    private void backend() {
        String wanted = decision.config().backend();
        List<Candidate> candidates = new ArrayList<>();
        for (Verdict verdict : selection.verdicts()) {
            Backend backend = verdict.backend();
            candidates.add(new Candidate(
                    backend.id(), backend.getClass(), verdict.outcome() == Outcome.TAKEN, verdict.reason()));
        }
        boolean present = wanted.equals("auto") || registry.backends().stream().anyMatch(b -> b.id().equals(wanted));
        selections.add(new Selection(
                "backend",
                "setting backend=" + wanted,
                orAbsent(candidates, present, wanted, "the backend '" + wanted + "'")));
    }

    private void devices() {
        List<Candidate> candidates = new ArrayList<>();
        registry.backends().forEach(backend -> candidates.addAll(devices(backend)));
        String asked = decision.config().device();
        selections.add(new Selection("device", asked.isEmpty() ? "the first" : "setting device=" + asked, candidates));
    }

    /// Nothing is said where nothing was tuned.
    private void tuned() {
        Status status = selection.tuned();
        if (!status.equals(Status.NONE)) {
            boolean taken = !status.settings().isEmpty();
            String name = taken ? TunedSettings.line(status.settings()) : "tuned settings";
            selections.add(new Selection(
                    "tuned",
                    "setting tuned",
                    List.of(new Candidate(name, selection.backend().getClass(), taken, status.reason()))));
        }
    }

    private List<Candidate> devices(Backend backend) {
        try {
            if (!backend.probe().available()) {
                return List.of(new Candidate(
                        "none of " + backend.id(),
                        backend.getClass(),
                        false,
                        "not available: " + backend.probe().reason()));
            }
            return backend.devices().stream().map(info -> device(backend, info)).toList();
        } catch (RuntimeException | LinkageError e) {
            return List.of(new Candidate("none of " + backend.id(), backend.getClass(), false, e.toString()));
        }
    }

    private Candidate device(Backend backend, DeviceInfo info) {
        String asked = decision.config().device();
        DeviceInfo open = selection.device().info();
        boolean taken = backend == selection.backend() && info.id().equals(open.id());
        String reason;
        if (taken) {
            reason =
                    (asked.isEmpty() ? "the first of " + backend.id() : "setting device=" + asked) + opened(info, open);
        } else if (backend != selection.backend()) {
            reason = "backend " + backend.id() + " is not taken";
        } else {
            reason = "the device is " + open.id();
        }
        return new Candidate(info.id() + " " + info.name(), backend.getClass(), taken, reason);
    }

    /// What only the open device knows of itself, such as the binding by which a driver is called.
    private static String opened(DeviceInfo listed, DeviceInfo open) {
        return open.details().entrySet().stream()
                .filter(detail -> !listed.details().containsKey(detail.getKey()))
                .map(detail -> ", " + detail.getKey() + " " + detail.getValue())
                .collect(Collectors.joining());
    }

    private void kernels(Op op, Support support) {
        List<Candidate> candidates = new ArrayList<>();
        candidates.add(new Candidate(
                support.level().name().toLowerCase(Locale.ROOT),
                selection.device().compiler().getClass(),
                support.level() != Support.Level.NONE,
                support.reason()));
        boolean used = false;
        for (KernelProvider provider : KernelOffers.inOrder(decision.kernels())) {
            for (Kernel kernel : kernels(provider, op)) {
                if (kernel.op().equals(op.kind())) {
                    String refusal = refusal(kernel, op, support, used);
                    used |= refusal == null;
                    candidates.add(new Candidate(
                            kernel.name(),
                            provider.getClass(),
                            refusal == null,
                            (refusal == null
                                            ? "made for the "
                                                    + (kernel.format().equals(Kernel.ANY_FORMAT) ? "op" : "format")
                                                    + " and taken by the backend"
                                            : refusal)
                                    + ", rank " + provider.rank()));
                }
            }
        }
        String weight =
                op.weights().isEmpty() ? "" : " " + op.weights().getFirst().name();
        String output =
                op.outputs().isEmpty() ? "" : " -> " + op.outputs().getFirst().name();
        selections.add(new Selection("kernel", op.kind() + weight + output, candidates));
    }

    /// What a provider has by itself, and what it makes for the op's formats.
    private Set<Kernel> kernels(KernelProvider provider, Op op) {
        Set<Kernel> kernels = new LinkedHashSet<>(provider.kernels());
        op.weights()
                .forEach(weight ->
                        kernels.addAll(provider.kernels(decision.weights().format(weight.name()))));
        return kernels;
    }

    /// Why a kernel is not what the backend takes, or null.
    private String refusal(Kernel kernel, Op op, Support support, boolean used) {
        Device device = selection.device();
        List<String> formats = op.weights().stream()
                .map(weight -> decision.weights().format(weight.name()).id())
                .distinct()
                .toList();
        if (!kernel.deviceKind().equals(device.info().kind())) {
            return "is for devices of kind " + kernel.deviceKind() + ", the device is of kind "
                    + device.info().kind();
        }
        if (!formats.isEmpty() && !kernel.format().equals(Kernel.ANY_FORMAT) && !formats.contains(kernel.format())) {
            return "reads " + kernel.format() + ", the weight is " + String.join(", ", formats);
        }
        if (kernel instanceof LinearKernel packed
                && !op.weights().stream().allMatch(weight -> packed.accepts(weight.cols()))) {
            return "does not take rows of " + op.weights().getFirst().cols() + " elements";
        }
        if (!names(support.reason(), kernel.name())) {
            return "the backend takes another: " + support.reason();
        }
        return used ? "one of a higher rank, or of an earlier class name, came first" : null;
    }

    /// Whether a text has a name as a whole word.
    private static boolean names(String text, String name) {
        return Pattern.compile("(?<![\\w.])" + Pattern.quote(name) + "(?![\\w.])")
                .matcher(text)
                .find();
    }
}
