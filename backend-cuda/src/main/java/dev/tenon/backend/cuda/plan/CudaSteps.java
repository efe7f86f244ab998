package dev.tenon.backend.cuda.plan;

import dev.tenon.api.device.StepInput;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.Step;
import dev.tenon.kernels.nvidia.run.StepDevice;
import dev.tenon.kernels.nvidia.run.StepLogits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/// Runs the steps of a plan on its stream: one copy of the input and one launch of a captured graph, or,
/// for a profile, the kernels with events between them. Used in the plan's turn; the plan owns all parts.
final class CudaSteps implements StepDevice {
    private final CudaContext context;
    private final PlanMemory memory;
    private final MemorySegment input;
    private final MemorySegment pageTables;
    private final Optional<MemorySegment> sampled;
    private final MemorySegment masks;
    private final StepGraphs graphs;
    private final LogitsMemory logits;
    private final CudaProfiler profiler;
    private final long pageTablesAddress;
    private long begun;

    /// @param context the plan's
    /// @param planned the plan's graph
    /// @param memory the plan's memory
    /// @param input pinned memory for a step's input
    /// @param pageTables pinned memory for the page tables, zero
    /// @param graphs the steps' launches
    /// @param profiler times kernels
    CudaSteps(
            CudaContext context,
            PlannedGraph planned,
            PlanMemory memory,
            MemorySegment input,
            MemorySegment pageTables,
            StepGraphs graphs,
            CudaProfiler profiler) {
        this.context = context;
        this.memory = memory;
        this.input = input;
        this.pageTables = pageTables;
        this.sampled = Optional.of(memory.host(planned.sampled()));
        this.masks = memory.host(planned.masks());
        this.graphs = graphs;
        this.logits = graphs.logits();
        this.profiler = profiler;
        this.pageTablesAddress = memory.address(planned.pages());
    }

    @Override
    public MemorySegment input() {
        return input;
    }

    @Override
    public MemorySegment pageTables() {
        return pageTables;
    }

    @Override
    public Optional<MemorySegment> sampled() {
        return sampled;
    }

    @Override
    public MemorySegment masks() {
        return masks;
    }

    @Override
    public StepLogits logits() {
        return logits;
    }

    @Override
    public void begin() {
        context.enter();
        if (profiler.on()) {
            begun = System.nanoTime();
        }
    }

    @Override
    public void end(StepInput step) {
        if (profiler.on()) {
            profiler.ran(step, begun);
        }
    }

    @Override
    public void sendPageTables(long offset, long bytes) {
        context.binding()
                .copyToDevice(pageTablesAddress + offset, pageTables.address() + offset, bytes, context.stream());
    }

    @Override
    public void run(Step step) {
        if (step.samples() || profiler.on()) {
            graphs.copyInput(step.layout().bytes());
        }
        if (profiler.on()) {
            profile(step.shape(), step.input(), 0);
            if (step.sendsLogits()) {
                logits.copyWithStep(step.shape().logitRows());
            }
        } else {
            graphs.start(step.shape(), step.sendsLogits());
        }
        context.synchronize();
    }

    /// Copies the input of the first of several steps of which each gives its tokens to the next one.
    void send(Step first) {
        graphs.copyInput(first.layout().bytes());
    }

    /// Starts one of these steps.
    ///
    /// @param shape its sizes
    /// @param first the first one's tokens
    /// @param further how many steps it comes after the first one
    void start(StepShape shape, StepInput first, int further) {
        if (profiler.on()) {
            long begin = System.nanoTime();
            profile(shape, first, further);
            profiler.ran(first, begin);
        } else {
            graphs.start(shape, false);
        }
    }

    private void profile(StepShape shape, StepInput step, int further) {
        graphs.load(List.of(shape));
        profiler.run(shape, graphs.launches(shape), step, further);
    }

    @Override
    public void copy(List<KvBuffer> buffers, int from, int to) {
        context.enter();
        for (KvBuffer buffer : buffers) {
            long base = memory.address(buffer.buffer());
            long bytes = buffer.pageBytes();
            context.binding().copyOnDevice(base + to * bytes, base + from * bytes, bytes, context.stream());
        }
        context.synchronize();
    }

    @Override
    public void read(List<KvBuffer> buffers, int piece, MemorySegment target) {
        context.enter();
        long host = target.address();
        for (KvBuffer buffer : buffers) {
            long bytes = buffer.pageBytes();
            context.binding()
                    .copyToHost(host, memory.address(buffer.buffer()) + piece * bytes, bytes, context.stream());
            host += bytes;
        }
        context.synchronize();
    }

    @Override
    public void write(List<KvBuffer> buffers, int piece, MemorySegment source) {
        context.enter();
        long host = source.address();
        for (KvBuffer buffer : buffers) {
            long bytes = buffer.pageBytes();
            context.binding()
                    .copyToDevice(memory.address(buffer.buffer()) + piece * bytes, host, bytes, context.stream());
            host += bytes;
        }
        context.synchronize();
    }
}
