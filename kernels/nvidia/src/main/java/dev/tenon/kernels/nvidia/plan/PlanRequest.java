package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.MvSchedule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What is planned for a device, after it was found that its kernels can run it.
///
/// @param graph graph of core ops and fused ops
/// @param weights its weights
/// @param options limits, with the device's settings below those of the plan
/// @param formats how formats lie on the device
/// @param ownOps kernels of other bundles for ops of their own, in the order of the rule
/// @param libraries libraries that compute products of many rows, by the weights' format
/// @param traits the device
/// @param schedule knobs of the kernels for few rows
public record PlanRequest(
        Graph graph,
        Weights weights,
        PlanOptions options,
        DeviceFormats formats,
        List<CudaOpKernel> ownOps,
        Map<String, CudaMatmul> libraries,
        DeviceTraits traits,
        MvSchedule schedule) {
    /// Checks a request to a backend and prepares it.
    ///
    /// @param request what to compile
    /// @param offered kernels of other bundles that may be used
    /// @param settings the device's; those of the plan have precedence
    /// @param traits the device
    /// @param compiles whether kernels can be compiled, and not only taken as they are in the bundle
    /// @param backend what messages call the backend
    /// @return what to plan
    /// @throws UnsupportedModelException with all reasons why the kernels cannot run the graph
    /// @throws TenonException (`CONFIG`) if a knob has no such value
    public static PlanRequest of(
            CompileRequest request,
            Collection<KernelProvider> offered,
            Map<String, String> settings,
            DeviceTraits traits,
            boolean compiles,
            String backend) {
        PlanOptions options = withSettings(request.options(), settings);
        DeviceFormats formats = new DeviceFormats(KernelSupport.fragments(offered), () -> compiles);
        List<CudaOpKernel> ownOps = KernelSupport.ownOps(offered);
        Graph graph = request.graph().expanded(op -> !KernelSupport.isFused(op));
        graph = options.fuse() ? Fusion.fuse(graph, KernelSupport::isFused) : graph.expanded();
        List<Issue> issues = refusals(graph, request.weights(), formats, ownOps, options, compiles);
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException(
                    "graph " + request.graph().name() + " cannot run on the " + backend + " backend", issues);
        }
        MvSchedule schedule;
        try {
            schedule = MvSchedule.of(options.settings());
            schedule = compiles ? schedule : schedule.forPrebuilt();
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
        return new PlanRequest(
                graph,
                request.weights(),
                options,
                formats,
                ownOps,
                KernelSupport.libraries(offered),
                compiles ? traits : traits.asOldest(),
                schedule);
    }

    /// {@return the same request with a setting}
    ///
    /// @param name its name
    /// @param value its value
    public PlanRequest with(String name, String value) {
        Map<String, String> settings = new HashMap<>(options.settings());
        settings.put(name, value);
        return new PlanRequest(graph, weights, with(options, settings), formats, ownOps, libraries, traits, schedule);
    }

    private static PlanOptions withSettings(PlanOptions o, Map<String, String> below) {
        Map<String, String> all = new HashMap<>(below);
        all.putAll(o.settings());
        return with(o, all);
    }

    private static PlanOptions with(PlanOptions o, Map<String, String> settings) {
        return o.toBuilder().settings(settings).build();
    }

    /// Lists the reasons why a graph of core ops and fused ops cannot run: what [GraphSupport]
    /// finds, and a cache that only a compiled kernel takes.
    static List<Issue> refusals(
            Graph graph,
            Weights weights,
            DeviceFormats formats,
            List<CudaOpKernel> ownOps,
            PlanOptions options,
            boolean compiles) {
        List<Issue> issues = new ArrayList<>();
        if (!compiles
                && options.keyType() != options.valueType()
                && !graph.attentionLayers().isEmpty()) {
            issues.add(Issue.error(
                    ErrorCode.BACKEND_UNSUPPORTED,
                    "a cache with keys in " + options.keyType() + " and values in " + options.valueType()
                            + "; prebuilt kernels take the same type for both, and here none can be compiled:"
                            + " take one type, or, on the CUDA backend, install NVRTC (see cuda.nvrtc)",
                    "kv"));
        }
        OpSupport judge = new OpSupport(weights, formats, ownOps, List.of());
        issues.addAll(GraphSupport.refusals(graph, judge::of));
        return issues;
    }
}
