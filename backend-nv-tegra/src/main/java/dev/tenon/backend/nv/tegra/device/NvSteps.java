package dev.tenon.backend.nv.tegra.device;

import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.Step;
import dev.tenon.kernels.nvidia.run.StepDevice;
import dev.tenon.kernels.nvidia.run.StepLogits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Runs the steps of a plan, each as one command list: what the processor writes into the step's input and
/// the page tables, the GPU sees where it is, and logits are read where they are. The host samples all
/// tokens. Used in the plan's turn, closed by the plan.
final class NvSteps implements StepDevice, AutoCloseable {
    private final PlannedGraph planned;
    private final PlanMemory memory;
    private final Launcher launcher;
    private final Map<StepShape, CommandList> lists = new HashMap<>();
    private final MemorySegment input;
    private final MemorySegment pageTables;
    private final StepLogits logits;

    /// @param planned the plan's graph
    /// @param memory the plan's memory
    /// @param launcher makes command lists
    NvSteps(PlannedGraph planned, PlanMemory memory, Launcher launcher) {
        this.planned = planned;
        this.memory = memory;
        this.launcher = launcher;
        this.input = memory.host(planned.step());
        this.pageTables = memory.host(planned.pages());
        this.logits = new LogitsInPlace(memory.host(planned.logits()), planned.logitsWidth());
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
        return Optional.empty();
    }

    @Override
    public StepLogits logits() {
        return logits;
    }

    @Override
    public void sendPageTables(long offset, long bytes) {
        // The step before has ended, so that nothing reads them while they are written; they are there.
    }

    @Override
    public void run(Step step) {
        CommandList list = lists.computeIfAbsent(step.shape(), s -> launcher.list(planned.launches(s)));
        launcher.device().await(list.run());
    }

    /// The processor copies where it reads all memory fast, otherwise the copy engine.
    @Override
    public void copy(List<KvBuffer> buffers, int from, int to) {
        GpuDevice device = launcher.device();
        for (KvBuffer buffer : buffers) {
            long bytes = buffer.pageBytes();
            if (device.gpu().traits().sharedMemory()) {
                MemorySegment all = memory.host(buffer.buffer());
                MemorySegment.copy(all, from * bytes, all, to * bytes, bytes);
            } else if (from != to) {
                long start = memory.address(buffer.buffer().at(0));
                device.await(device.copy(start + from * bytes, start + to * bytes, bytes));
            }
        }
    }

    @Override
    public void read(List<KvBuffer> buffers, int piece, MemorySegment target) {
        long at = 0;
        for (KvBuffer buffer : buffers) {
            long bytes = buffer.pageBytes();
            MemorySegment.copy(memory.host(buffer.buffer()), piece * bytes, target, at, bytes);
            at += bytes;
        }
    }

    @Override
    public void write(List<KvBuffer> buffers, int piece, MemorySegment source) {
        long at = 0;
        for (KvBuffer buffer : buffers) {
            long bytes = buffer.pageBytes();
            MemorySegment.copy(source, at, memory.host(buffer.buffer()), piece * bytes, bytes);
            at += bytes;
        }
    }

    @Override
    public void close() {
        lists.values().forEach(CommandList::close);
        lists.clear();
    }
}
