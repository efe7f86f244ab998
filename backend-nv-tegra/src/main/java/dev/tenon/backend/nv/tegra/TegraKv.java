package dev.tenon.backend.nv.tegra;

import dev.tenon.api.device.KvPages;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The pages of a plan's KV cache. The plan owns the memory; nothing runs between steps, so that
/// the processor copies pages itself where it reads all memory fast.
///
/// @param memory the plan's memory
/// @param buffers keys and values of the layers
/// @param pageCount number of pages
/// @param device copies where the processor does not
record TegraKv(PlanMemory memory, List<KvBuffer> buffers, int pageCount, GpuDevice device) implements KvPages {
    TegraKv(PlanMemory memory, PlannedGraph planned, GpuDevice device) {
        this(memory, planned.cache(), planned.pageCount(), device);
    }

    @Override
    public int tokensPerPage() {
        return KvBuffer.TOKENS;
    }

    @Override
    public long pageBytes() {
        return buffers.stream().mapToLong(KvBuffer::pageBytes).sum();
    }

    @Override
    public void copy(int from, int to) {
        if (from < 0 || from >= pageCount || to < 0 || to >= pageCount) {
            throw new IndexOutOfBoundsException(
                    "copy of page " + from + " to " + to + "; the cache has pages 0 to " + (pageCount - 1));
        }
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
}
