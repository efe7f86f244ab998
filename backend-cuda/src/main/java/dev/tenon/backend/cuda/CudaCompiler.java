package dev.tenon.backend.cuda;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.plan.CudaPlan;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.plan.GraphPlanner;
import dev.tenon.kernels.nvidia.plan.KernelSupport;
import dev.tenon.kernels.nvidia.plan.PlanRequest;
import java.util.Collection;
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
        return KernelSupport.of(op, weights, offered, kernels::canCompile);
    }

    @Override
    public boolean keepsWindows() {
        return true;
    }

    @Override
    public boolean batchInvariant() {
        return true;
    }

    @Override
    public Plan compile(CompileRequest request) {
        PlanRequest planned =
                PlanRequest.of(request, request.kernels(), settings, traits, kernels.canCompile(), "CUDA");
        CudaPlan plan = CudaPlan.create(
                GraphPlanner.plan(planned),
                request.weights(),
                context,
                allocator,
                kernels,
                planned.traits(),
                open::remove);
        open.add(plan);
        return plan;
    }

    /// {@return the plans that have not been closed}
    List<CudaPlan> openPlans() {
        return List.copyOf(open);
    }
}
