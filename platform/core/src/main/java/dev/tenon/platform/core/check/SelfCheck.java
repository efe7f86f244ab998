package dev.tenon.platform.core.check;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;

/// Tries the services of a bundle before models use them.
///
/// A backend and a kernel compute a [TinyModel] and are compared with its scalar arithmetic. A format's
/// layout says what its decoder does. What loaded models compute on it is tried when they move to it
/// ([TrialLogits]).
public final class SelfCheck {
    /// Greatest error of the logits relative to the reference: kernels may round activations to 8 bits.
    private static final double TOLERANCE = 0.05;
    /// The same for weights in F32, which nothing rounds.
    private static final double TOLERANCE_F32 = 1e-3;

    private static final float DECODING_TOLERANCE = 1e-5f;
    private static final int F32 = 0;
    private static final int[] TOKENS = {1, 7, 40, 3, 22, 7, 13, 5};
    private static final int PREFILL = 6;

    private final ServiceRegistry registry;

    /// Creates a check.
    ///
    /// @param registry the services to try, and the others that the trial takes
    public SelfCheck(ServiceRegistry registry) {
        this.registry = registry;
    }

    /// Tries all services of a bundle.
    ///
    /// @param bundle number of the bundle, which may be held
    /// @param replaced number of the bundle that it replaces, or -1
    /// @return what is wrong, a line each; empty if nothing is
    public List<String> check(long bundle, long replaced) {
        List<String> wrong = new ArrayList<>();
        List<Object> services = registry.servicesOf(bundle);
        List<Object> before = replaced < 0 ? List.of() : registry.servicesOf(replaced);
        for (Object service : services) {
            try {
                switch (service) {
                    case QuantFormat format ->
                        format.layout().flatMap(given -> layout(format, given)).ifPresent(wrong::add);
                    case Backend backend -> backend(backend, services, before).ifPresent(wrong::add);
                    case KernelProvider provider -> wrong.addAll(kernels(provider, services));
                    case EndpointProvider provider -> endpoints(provider).ifPresent(wrong::add);
                    case BundleSettings settings -> {
                        settings.owner();
                        settings.settings().forEach(Objects::requireNonNull);
                    }
                    default -> {
                        // Nothing can be computed with it alone.
                    }
                }
            } catch (RuntimeException | LinkageError e) {
                wrong.add(service.getClass().getName() + " failed: " + e);
            }
        }
        return wrong;
    }

    /// Looks for formats that decode a block to other values than the version that they replace: that makes another
    /// model of each file in them.
    ///
    /// @param bundle number of the bundle, which may be held
    /// @param replaced number of the bundle that it replaces, or -1
    /// @return what has changed, a line each; empty if nothing has
    public List<String> changedFormats(long bundle, long replaced) {
        List<String> changed = new ArrayList<>();
        for (Object service : registry.servicesOf(bundle)) {
            for (Object before : replaced < 0 ? List.of() : registry.servicesOf(replaced)) {
                if (service instanceof QuantFormat format
                        && before instanceof QuantFormat old
                        && old.id().equals(format.id())) {
                    changed(format, old).ifPresent(changed::add);
                }
            }
        }
        return changed;
    }

    private static Optional<String> changed(QuantFormat format, QuantFormat old) {
        boolean same = old.ggmlType() == format.ggmlType()
                && old.blockSize() == format.blockSize()
                && old.blockBytes() == format.blockBytes();
        return same
                ? decoding(format, old::dequantize, "the version it replaces")
                : Optional.of("format " + format.id() + " has another number or other blocks than the version it"
                        + " replaces");
    }

    /// Asks for what a server asks for; impossible methods and paths are refused as they are made.
    private static Optional<String> endpoints(EndpointProvider provider) {
        List<String> paths = provider.endpoints().stream()
                .map(each -> each.method() + " " + each.path())
                .toList();
        provider.filters().forEach(Objects::requireNonNull);
        return paths.stream()
                .filter(path -> Collections.frequency(paths, path) > 1)
                .findFirst()
                .map(path -> "end points " + provider.id() + " have " + path + " twice");
    }

    /// A way to decode blocks, as that of a format.
    private interface Decoder {
        void decode(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n);
    }

    /// Kernels are made of the layout, and others run through the decoder: both must say the same.
    private static Optional<String> layout(QuantFormat format, BlockLayout layout) {
        return layout.size() == format.blockSize() && layout.bytes() == format.blockBytes()
                ? decoding(format, layout::decode, "its layout")
                : Optional.of("format " + format.id() + " has blocks of " + format.blockSize() + " values in "
                        + format.blockBytes() + " bytes; its layout has " + layout.size() + " in " + layout.bytes());
    }

    private static Optional<String> decoding(QuantFormat format, Decoder other, String whose) {
        int blocks = 64;
        byte[] bytes = new byte[blocks * format.blockBytes()];
        new Random(1).nextBytes(bytes);
        int n = blocks * format.blockSize();
        float[] expected = new float[n];
        float[] found = new float[n];
        other.decode(MemorySegment.ofArray(bytes), 0, expected, 0, n);
        format.dequantize(MemorySegment.ofArray(bytes), 0, found, 0, n);
        for (int i = 0; i < n; i++) {
            boolean same = Float.compare(expected[i], found[i]) == 0
                    || Math.abs(expected[i] - found[i]) <= DECODING_TOLERANCE * Math.abs(expected[i]);
            if (!same) {
                return Optional.of("format " + format.id() + " decodes element " + i % format.blockSize()
                        + " of a block to " + found[i] + "; " + whose + " decodes it to " + expected[i]);
            }
        }
        return Optional.empty();
    }

    private Optional<String> backend(Backend backend, List<Object> services, List<Object> before) {
        Probe probe = backend.probe();
        if (!probe.available()) {
            boolean worked = before.stream()
                    .anyMatch(s -> s instanceof Backend old
                            && old.id().equals(backend.id())
                            && old.probe().available());
            return worked
                    ? Optional.of("backend " + backend.id() + " is not available: " + probe.reason()
                            + "; the version it replaces is")
                    : Optional.empty();
        }
        Optional<QuantFormat> f32 = f32(services);
        return f32.isEmpty()
                ? Optional.empty()
                : compute(backend, f32.get(), f32.get(), List.of()).map(e -> "backend " + backend.id() + ": " + e);
    }

    private List<String> kernels(KernelProvider provider, List<Object> services) {
        List<String> wrong = new ArrayList<>();
        Optional<QuantFormat> f32 = f32(services);
        for (Backend backend : registry.backends()) {
            if (f32.isEmpty() || !backend.probe().available()) {
                continue;
            }
            String kind = backend.devices().getFirst().kind();
            for (QuantFormat format : known(services)) {
                boolean read = provider.kernels(format).stream()
                        .anyMatch(kernel -> kernel.deviceKind().equals(kind));
                if (read && format.quantizer().isPresent()) {
                    compute(backend, format, f32.get(), List.of(provider))
                            .map(e -> "kernels for " + format.id() + " on " + backend.id() + ": " + e)
                            .ifPresent(wrong::add);
                }
            }
        }
        return wrong;
    }

    /// The formats that can be taken: those of the bundle itself first, then those that are offered.
    private Collection<QuantFormat> known(List<Object> services) {
        Collection<QuantFormat> own = services.stream()
                .filter(QuantFormat.class::isInstance)
                .map(QuantFormat.class::cast)
                .collect(Collectors.toMap(QuantFormat::ggmlType, f -> f, (a, b) -> a))
                .values();
        List<QuantFormat> all = new ArrayList<>(own);
        registry.formats().stream()
                .filter(f -> own.stream().noneMatch(o -> o.ggmlType() == f.ggmlType()))
                .forEach(all::add);
        return all;
    }

    private Optional<QuantFormat> f32(List<Object> services) {
        return known(services).stream()
                .filter(f -> f.ggmlType() == F32 && f.quantizer().isPresent())
                .findFirst();
    }

    /// Runs the tiny model, as a prompt and two tokens after it.
    ///
    /// @return what is wrong, or empty
    private static Optional<String> compute(
            Backend backend, QuantFormat matrices, QuantFormat vectors, List<KernelProvider> kernels) {
        PlanOptions options = PlanOptions.builder(TOKENS.length)
                .maxBatchTokens(PREFILL)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        try (TinyModel model = new TinyModel(matrices, vectors);
                Device device = backend.open(DeviceOptions.defaults())) {
            double[][] expected = model.logits(TOKENS);
            float[][] found = new float[TOKENS.length][TinyModel.VOCAB];
            try (Plan plan = device.compiler()
                    .compile(CompileRequest.builder(model.graph(), model, options)
                            .kernels(kernels)
                            .build())) {
                int perPage = plan.kvPages().tokensPerPage();
                int[] pages = new int[(TOKENS.length + perPage - 1) / perPage];
                Arrays.setAll(pages, i -> i);
                run(plan, pages, 0, PREFILL, found);
                for (int t = PREFILL; t < TOKENS.length; t++) {
                    run(plan, pages, t, t + 1, found);
                }
            }
            long kept = device.allocator().use().allocatedBytes();
            if (kept != 0) {
                return Optional.of("a closed plan keeps " + kept + " bytes of the device");
            }
            return compare(expected, found, matrices.ggmlType() == F32 ? TOLERANCE_F32 : TOLERANCE);
        }
    }

    private static void run(Plan plan, int[] pages, int from, int to, float[][] logits) {
        StepInput input = new StepInput();
        input.addSequence(pages);
        for (int t = from; t < to; t++) {
            input.addToken(TOKENS[t], t, true);
        }
        StepResult result = plan.run(input);
        for (int t = from; t < to; t++) {
            result.logits(t - from, logits[t]);
        }
    }

    private static Optional<String> compare(double[][] expected, float[][] found, double tolerance) {
        for (int t = 0; t < expected.length; t++) {
            double error = 0;
            double size = 0;
            for (int i = 0; i < expected[t].length; i++) {
                error += Math.pow(found[t][i] - expected[t][i], 2);
                size += Math.pow(expected[t][i], 2);
            }
            double relative = Math.sqrt(error / size);
            if (!(relative <= tolerance)) {
                return Optional.of(String.format(
                        java.util.Locale.ROOT,
                        "the logits of a tiny model are wrong at position %d: relative error %.3g against scalar"
                                + " arithmetic, at most %.3g is right",
                        t,
                        relative,
                        tolerance));
            }
        }
        return Optional.empty();
    }
}
