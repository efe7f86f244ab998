package dev.tenon.backend.nv.tegra;

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
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.plan.GraphPlanner;
import dev.tenon.kernels.nvidia.plan.KernelSupport;
import dev.tenon.kernels.nvidia.plan.MvSchedule;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes plans for a Tegra. Safe for any thread.
///
/// Decoders that other bundles offer as CUDA C are not used: nothing compiles them here. Their
/// formats are decoded to F16 when weights are copied.
///
/// @param device the device
/// @param traits what the planning needs to know of it
/// @param settings the device's; those of a plan go over them
record TegraCompiler(TegraDevice device, DeviceTraits traits, Map<String, String> settings) implements Compiler {
    private static final Logger LOG = LoggerFactory.getLogger(TegraCompiler.class);
    /// Sources that only steps of many tokens need, and can do without.
    private static final Set<String> MANY_ROWS = Set.of("matmul.cu", "attention_prefill.cu", "rows.cu");

    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> offered) {
        return KernelSupport.of(op, weights, List.of());
    }

    @Override
    public Plan compile(CompileRequest request) {
        Graph graph = KernelSupport.withKnownOps(request.graph());
        Map<String, String> both = new HashMap<>(settings);
        both.putAll(request.options().settings());
        PlanOptions options = with(request.options(), both);
        graph = options.fuse() ? Fusion.fuse(graph) : graph.expanded();
        List<Issue> issues = KernelSupport.refusals(graph, request.weights(), List.of(), options, false);
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException(
                    "graph " + request.graph().name() + " cannot run on the Tegra backend", issues);
        }
        MvSchedule schedule;
        try {
            schedule = MvSchedule.of(options.settings(), System.getenv()).forPrebuilt();
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
        PlannedGraph planned = GraphPlanner.plan(graph, request.weights(), options, List.of(), traits, schedule);
        List<KernelModule> missing = device.code().missing(modules(planned, shapes(planned, options)));
        if (!missing.isEmpty() && missing.stream().allMatch(m -> MANY_ROWS.contains(m.file()))) {
            LOG.info("prompts run on the kernels for few tokens: no machine code of {}", names(missing));
            options = with(options, Map.of(GraphPlanner.TENSOR_CORES, "off"));
            planned = GraphPlanner.plan(graph, request.weights(), options, List.of(), traits, schedule);
            missing = device.code().missing(modules(planned, shapes(planned, options)));
        }
        if (!missing.isEmpty()) {
            throw device.code().refusal(missing);
        }
        List<StepShape> usual = List.of(new StepShape(1, 1, false), StepShape.of(options.maxTokens(), 1, 1));
        device.code().prepare(modules(planned, usual));
        return TegraPlan.create(planned, request.weights(), device);
    }

    private static List<String> names(List<KernelModule> modules) {
        return modules.stream().map(KernelModule::name).toList();
    }

    /// Every shape that a step can have.
    private static List<StepShape> shapes(PlannedGraph planned, PlanOptions options) {
        List<StepShape> shapes = new ArrayList<>();
        int most = Buckets.of(options.maxTokens());
        for (int rows = 1; rows <= most; rows *= 2) {
            int selected = Math.min(rows, planned.maxLogitRows());
            for (int wanted = 1; wanted <= selected; wanted *= 2) {
                shapes.add(new StepShape(rows, wanted, false));
                if (rows > StepShape.FEW) {
                    shapes.add(new StepShape(rows, wanted, true));
                }
            }
        }
        return shapes;
    }

    private static List<KernelModule> modules(PlannedGraph planned, List<StepShape> shapes) {
        List<KernelModule> modules = new ArrayList<>(planned.modules(shapes));
        planned.matrices().stream()
                .filter(w -> w.format().repacked())
                .map(DeviceWeight::repackModule)
                .forEach(modules::add);
        return modules;
    }

    private static PlanOptions with(PlanOptions o, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(o.settings());
        all.putAll(more);
        return new PlanOptions(
                o.maxTokens(), o.maxSequences(), o.kvTokens(), o.keyType(), o.valueType(), o.fuse(), all);
    }
}
