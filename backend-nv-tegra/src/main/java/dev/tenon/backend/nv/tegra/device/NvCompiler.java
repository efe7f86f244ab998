package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.plan.GraphPlanner;
import dev.tenon.kernels.nvidia.plan.KernelSupport;
import dev.tenon.kernels.nvidia.plan.PlanRequest;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes plans for a GPU. Safe for any thread.
///
/// Decoders that other bundles offer as CUDA C are not used: nothing compiles them here. Their formats are
/// decoded to F16 when weights are copied. Launches have neither clusters nor early starts, so that all
/// devices are planned for as the oldest one.
///
/// @param device the device
/// @param traits what the planning needs to know of it
/// @param settings the device's; those of a plan have precedence
record NvCompiler(NvDevice device, DeviceTraits traits, Map<String, String> settings) implements Compiler {
    private static final Logger LOG = LoggerFactory.getLogger(NvCompiler.class);
    /// Sources that only steps of many tokens need, and can do without.
    private static final Set<String> MANY_ROWS = Set.of("matmul.cu", "attention_prefill.cu", "rows.cu");

    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> offered) {
        return KernelSupport.of(op, weights, List.of(), () -> false);
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
        PlanRequest wanted = PlanRequest.of(
                request, List.of(), settings, traits, false, device.info().kind());
        PlannedGraph planned = GraphPlanner.plan(wanted);
        List<KernelModule> missing = missing(planned);
        if (!missing.isEmpty() && missing.stream().allMatch(m -> MANY_ROWS.contains(m.file()))) {
            LOG.info(
                    "prompts run on the kernels for few tokens: no machine code of {}",
                    missing.stream().map(KernelModule::name).toList());
            planned = GraphPlanner.plan(wanted.with(GraphPlanner.TENSOR_CORES, "off"));
            missing = missing(planned);
        }
        if (!missing.isEmpty()) {
            throw device.code().refusal(missing);
        }
        int most = wanted.options().maxBatchTokens();
        device.code()
                .prepare(modules(
                        planned,
                        List.of(
                                planned.limits().shape(1, 1, 1),
                                planned.limits().shape(most, 1, 1))));
        return new NvPlan(planned, request.weights(), device);
    }

    private List<KernelModule> missing(PlannedGraph planned) {
        return device.code().missing(modules(planned, planned.limits().shapes()));
    }

    private static List<KernelModule> modules(PlannedGraph planned, List<StepShape> shapes) {
        List<KernelModule> modules = new ArrayList<>(planned.modules(shapes));
        modules.addAll(planned.repackModules());
        return modules;
    }
}
