package dev.tenon.backend.cuda;

import dev.tenon.api.device.KvPages;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.util.List;
import java.util.function.Consumer;

/// The pages of a plan's KV cache on the device. The plan owns the memory.
final class CudaKv implements KvPages {
    private final Consumer<Runnable> between;
    private final CudaContext context;
    private final PlanMemory memory;
    private final List<KvBuffer> buffers;
    private final int pageCount;

    /// @param between runs work on the plan's stream between two steps
    /// @param context the plan's
    /// @param memory the plan's memory
    /// @param planned where the pages are
    CudaKv(Consumer<Runnable> between, CudaContext context, PlanMemory memory, PlannedGraph planned) {
        this.between = between;
        this.context = context;
        this.memory = memory;
        this.buffers = planned.cache();
        this.pageCount = planned.pageCount();
    }

    @Override
    public int tokensPerPage() {
        return KvBuffer.TOKENS;
    }

    @Override
    public int pageCount() {
        return pageCount;
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
        between.accept(() -> copyPage(from, to));
    }

    private void copyPage(int from, int to) {
        for (KvBuffer buffer : buffers) {
            long base = memory.address(buffer.buffer());
            long bytes = buffer.pageBytes();
            CudaDriver.get()
                    .call(
                            DriverCall.cuMemcpyDtoDAsync_v2,
                            base + to * bytes,
                            base + from * bytes,
                            bytes,
                            context.stream());
        }
    }
}
