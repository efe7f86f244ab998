package dev.tenon.backend.cuda;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.plan.GraphPlanner;
import dev.tenon.kernels.nvidia.plan.KernelSupport;
import dev.tenon.kernels.nvidia.plan.MvSchedule;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Makes plans for a GPU. Safe for any thread.
final class CudaCompiler implements Compiler {
    private final CudaContext context;
    private final CudaAllocator allocator;
    private final KernelLoader kernels;
    private final DeviceTraits traits;
    private final Map<String, String> settings;
    private final Set<CudaPlan> open = ConcurrentHashMap.newKeySet();

    /// @param context the device's
    /// @param allocator the device's memory
    /// @param kernels loads kernels
    /// @param traits the device
    /// @param settings the device's; those of a plan go over them
    CudaCompiler(
            CudaContext context,
            CudaAllocator allocator,
            KernelLoader kernels,
            DeviceTraits traits,
            Map<String, String> settings) {
        this.context = context;
        this.allocator = allocator;
        this.kernels = kernels;
        this.traits = traits;
        this.settings = settings;
    }

    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> offered) {
        return KernelSupport.of(op, weights, offered);
    }

    @Override
    public Plan compile(CompileRequest request) {
        Graph graph = KernelSupport.withKnownOps(request.graph());
        PlanOptions options = withSettings(request.options());
        graph = options.fuse() ? Fusion.fuse(graph) : graph.expanded();
        List<Issue> issues =
                KernelSupport.refusals(graph, request.weights(), request.kernels(), options, kernels.canCompile());
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException(
                    "graph " + request.graph().name() + " cannot run on the CUDA backend", issues);
        }
        MvSchedule schedule;
        DeviceTraits planned = traits;
        try {
            schedule = MvSchedule.of(options.settings(), System.getenv());
            if (!kernels.canCompile()) {
                schedule = schedule.forPrebuilt();
                planned = traits.asOldest();
            }
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
        PlannedGraph made = GraphPlanner.plan(graph, request.weights(), options, request.kernels(), planned, schedule);
        CudaPlan plan =
                CudaPlan.create(made, request.weights(), options, context, allocator, kernels, planned, open::remove);
        open.add(plan);
        return plan;
    }

    /// {@return the plans that have not been closed}
    List<CudaPlan> openPlans() {
        return List.copyOf(open);
    }

    private PlanOptions withSettings(PlanOptions o) {
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(o.settings());
        return new PlanOptions(
                o.maxTokens(), o.maxSequences(), o.kvTokens(), o.keyType(), o.valueType(), o.fuse(), all);
    }
}
