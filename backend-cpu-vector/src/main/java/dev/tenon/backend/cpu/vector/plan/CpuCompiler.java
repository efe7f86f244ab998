package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Makes plans for the CPU. Safe for any thread.
public final class CpuCompiler implements Compiler {
    /// The setting that has kernels warmed up in the background: `on`, or `off`, which is also what holds
    /// without it.
    static final String WARMUP = "warmup";

    private final CpuAllocator allocator;
    private final CpuThreads threads;
    private final KernelSet kernels;
    private final CpuOps ops;

    /// Creates the compiler of a device.
    ///
    /// @param allocator memory
    /// @param threads the team that runs plans
    /// @param kernels which kernels to use
    public CpuCompiler(CpuAllocator allocator, CpuThreads threads, KernelSet kernels) {
        this(allocator, threads, kernels, CpuOps.ALL);
    }

    /// Creates the compiler of a device that runs other ops.
    ///
    /// @param ops rows of the ops
    CpuCompiler(CpuAllocator allocator, CpuThreads threads, KernelSet kernels, CpuOps ops) {
        this.allocator = allocator;
        this.threads = threads;
        this.kernels = kernels;
        this.ops = ops;
    }

    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> offered) {
        return new OpSupport(ops, weights, new KernelSet(kernels.vector(), false, offered)).of(op);
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
        PlanOptions options = request.options();
        boolean warming = kernels.vector() && "on".equals(options.settings().get(WARMUP));
        KernelSet selected = new KernelSet(kernels.vector(), warming, request.kernels());
        Graph graph = request.graph().expanded(op -> !ops.isFused(op));
        List<Issue> issues = new ArrayList<>(cacheIssues(graph, options));
        FoldedAdapters folded = options.fuse() ? FoldedAdapters.fuse(graph, ops) : FoldedAdapters.none(graph);
        issues.addAll(GraphSupport.refusals(folded.graph(), new OpSupport(ops, request.weights(), selected)::of));
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException(
                    "graph " + request.graph().name() + " cannot run on the CPU backend", issues);
        }
        WeightBinder binder = new WeightBinder(request.weights(), selected);
        return new PlanBuilder(ops, folded.graph(), folded.adapters(), options, binder, selected, allocator, threads)
                .build();
    }

    /// Blocks of Q8_0 must fit into heads.
    private static List<Issue> cacheIssues(Graph graph, PlanOptions options) {
        List<Issue> issues = new ArrayList<>();
        for (CoreOp.Attention op : graph.cacheLayers()) {
            check(issues, "keys", options.keyType(), op.keyLength());
            check(issues, "values", options.valueType(), op.valueLength());
        }
        return issues.stream().distinct().toList();
    }

    private static void check(List<Issue> issues, String what, KvType type, int length) {
        if (type == KvType.Q8_0 && length % CpuKv.BLOCK != 0) {
            issues.add(Issue.error(
                    ErrorCode.BACKEND_UNSUPPORTED,
                    "a Q8_0 KV cache needs heads of a multiple of " + CpuKv.BLOCK + " elements, but the model's " + what
                            + " have " + length + "; choose F16 or F32 for " + what,
                    "kv"));
        }
    }
}
