package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.memory.GateTile;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuNormGateUp;
import dev.tenon.backend.cpu.vector.op.LowRankChange;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.op.ThreadMemory;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.sequence.AttentionMemory;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.backend.cpu.vector.warmup.Warmup;
import dev.tenon.backend.cpu.vector.warmup.WarmupTask;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Compiles a graph into a plan: lowers it, and takes the memory that its kernels need.
///
/// @param ops rows of ops
/// @param graph graph of core ops and fused ops, all supported
/// @param adapters what adapters change of projections, by the value that they compute
/// @param options limits
/// @param binder binds weights
/// @param kernels selects kernels
/// @param allocator gives memory
/// @param threads runs the steps
record PlanBuilder(
        CpuOps ops,
        Graph graph,
        Map<Value, LowRankAdd> adapters,
        PlanOptions options,
        WeightBinder binder,
        KernelSet kernels,
        CpuAllocator allocator,
        CpuThreads threads) {
    /// {@return the plan; if this throws, all memory has been released}
    CpuPlan build() {
        PlanMemory memory = new PlanMemory(allocator);
        try {
            return build(memory);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    private CpuPlan build(PlanMemory memory) {
        // Layers that only choose positions need the same memory of threads.
        List<CoreOp.Attention> layers = Stream.concat(graph.attentionLayers().stream(), graph.cacheLayers().stream())
                .distinct()
                .toList();
        PlanStores stores = stores(memory);
        CpuKv cache = stores.cache();
        CpuStates states = stores.states();
        LoweredGraph lowered =
                new Lowering(ops, graph, adapters, binder, stores, kernels, options.maxBatchTokens()).run();
        ThreadMemory[] threadMemory = threadMemory(lowered, layers, memory);
        // Before the large arrays: machine code is generated while those get their memory.
        Warmup warmup = null;
        if (kernels.warming()) {
            warmup = warmup(lowered, layers, threadMemory[0].scratch());
            memory.onClose(warmup::close);
            warmup.start();
        }
        int selectedRows = Math.min(options.maxBatchTokens(), options.maxSequences());
        for (Activations a : lowered.activations()) {
            long rows = a.selected ? selectedRows : options.maxBatchTokens();
            a.use(memory.floats(rows * a.width, "activations"));
        }
        for (PackedActivations rows : binder.packedRows()) {
            rows.use(memory.segment(rows.bytes(options.maxBatchTokens()), "packed activations"));
            MemorySegment[] rowOfThread = new MemorySegment[threads.size()];
            for (int i = 0; i < rowOfThread.length; i++) {
                rowOfThread[i] = memory.segment(rows.ownBytes(), "packed activations");
            }
            rows.useOwn(rowOfThread);
        }
        for (LowRankChange change : binder.changes()) {
            change.useOwn(threads.size());
        }
        if (lowered.experts().any()) {
            lowered.experts().use(memory, options.maxBatchTokens(), threads.size());
        }
        int claims = Integer.parseInt(StepContext.CLAIMS.in(options.settings()));
        StepContext context = new StepContext(
                threads, claims, threadMemory, AttentionMemory.split(layers, cache.pageCount(), memory));
        memory.bind(binder.boundBytes());
        List<LoweredGraph.Entry> entries = lowered.kernels();
        List<PlanReport.Kernel> reports = new ArrayList<>();
        long weightBytes = 0;
        for (LoweredGraph.Entry entry : entries) {
            reports.add(entry.report());
            weightBytes += entry.weightBytes();
        }
        PlanReport report = new PlanReport(
                reports,
                weightBytes,
                new MemoryUse(
                        stores.cacheBytes() + (states == null ? 0 : states.sizeBytes()) + memory.allocatedBytes(),
                        memory.boundBytes(),
                        allocator.use().limitBytes()));
        return new CpuPlan(
                lowered,
                stores,
                context,
                new StepCheck(
                        options,
                        CpuKv.TOKENS,
                        cache.pageCount(),
                        lowered.vocabularySize(),
                        states == null ? 0 : states.slotCount(),
                        stores.windowPages()),
                report,
                new KernelTimes(entries, graph, stores.tokenBytes()),
                warmup);
    }

    private PlanStores stores(PlanMemory memory) {
        WindowLayers windowLayers = WindowLayers.of(graph);
        List<CoreOp.Attention> layers = graph.cacheLayers();
        CpuKv windows = null;
        if (options.windowTokens() > 0 && !windowLayers.layers().isEmpty()) {
            long positions = (long) options.windowPages(CpuKv.TOKENS) * CpuKv.TOKENS;
            windows = cache(windowLayers.layers(), true, positions, memory);
            layers = layers.stream().filter(op -> !windowLayers.has(op.layer())).toList();
        }
        return new PlanStores(
                cache(layers, false, options.kvTokens(), memory), windows, windowLayers, states(memory), memory);
    }

    private CpuKv cache(List<CoreOp.Attention> layers, boolean windows, long positions, PlanMemory memory) {
        CpuKv cache = new CpuKv(
                layers, windows, keepsOneLayer(), positions, options.keyType(), options.valueType(), allocator);
        memory.onClose(cache::close);
        return cache;
    }

    /// Sequences of a graph that is not causal come whole, and no op of this one reads what an earlier layer appended.
    private boolean keepsOneLayer() {
        long readers = graph.expanded().ops().stream()
                .filter(CoreOp.Attention.class::isInstance)
                .count();
        return !graph.isCausal() && readers == graph.cacheLayers().size();
    }

    /// {@return the memory of states, or null if no op has one}
    private CpuStates states(PlanMemory memory) {
        if (graph.opsWithState().isEmpty()) {
            return null;
        }
        CpuStates states = new CpuStates(graph.opsWithState(), options.stateSlots(), allocator);
        memory.onClose(states::close);
        return states;
    }

    private ThreadMemory[] threadMemory(LoweredGraph lowered, List<CoreOp.Attention> layers, PlanMemory memory) {
        LoweredGraph.ThreadNeeds needs = lowered.needs();
        boolean gated = lowered.experts().any();
        for (LoweredGraph.Entry entry : lowered.kernels()) {
            gated |= entry.kernel() instanceof CpuNormGateUp;
        }
        long gateTile = gated ? (long) options.maxBatchTokens() * StepContext.MANY_TOKENS_ROWS : 0;
        ThreadMemory[] memories = new ThreadMemory[threads.size()];
        for (int i = 0; i < memories.length; i++) {
            Scratch scratch = new Scratch(
                    memory.floats(needs.scratchFloats(), "scratch"),
                    new byte[needs.scratchBytes()],
                    memory.segment(needs.scratchMemory(), "scratch"));
            GateTile tile = new GateTile(
                    memory.floats(gateTile, "gate projections"), memory.floats(gateTile, "up projections"));
            Activations normed = new Activations(needs.normedWidth(), false);
            normed.use(memory.floats(needs.normedWidth(), "activations"));
            memories[i] =
                    new ThreadMemory(scratch, AttentionMemory.tiles(layers, memory), tile, normed, new StateWork());
        }
        return memories;
    }

    private Warmup warmup(LoweredGraph lowered, List<CoreOp.Attention> layers, Scratch sizes) {
        List<BoundLinear> linears = binder.linears();
        List<CoreOp.Attention> own = layers.stream()
                .filter(layer -> !lowered.attentionKernels().containsKey(layer))
                .toList();
        boolean plain = graph.stateOps().stream().allMatch(StateOp.ShortConvolution.class::isInstance);
        StateMath stateMath = plain ? null : kernels.states();
        return new Warmup(
                kernels.attention(), kernels.elementMath(), stateMath, own, lowered.ownElements(), options, arena -> {
                    List<WarmupTask> tasks = WarmupTask.attention(lowered.attentionKernels(), sizes, arena);
                    if (lowered.elements().kernel() != null) {
                        tasks.add(WarmupTask.elements(lowered.elements().kernel()));
                    }
                    tasks.addAll(WarmupTask.linears(linears, sizes, arena));
                    return tasks;
                });
    }
}
