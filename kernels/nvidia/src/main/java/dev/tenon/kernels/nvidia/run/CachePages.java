package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.KvPages;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.util.List;
import java.util.Optional;

/// The pages of a plan's KV cache. The plan owns the memory; pages are copied between its steps.
///
/// @param turn the plan's
/// @param device has the memory
/// @param buffers keys and values of the layers
/// @param pageCount number of pages
record CachePages(PlanTurn turn, StepDevice device, List<KvBuffer> buffers, int pageCount) implements KvPages {
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
        turn.begin("copying of pages");
        try {
            device.copy(buffers, from, to);
        } finally {
            turn.end();
        }
    }

    @Override
    public Optional<HostCopies> hostCopies() {
        return Optional.of(new PieceCopies(turn, device, buffers, pageCount, (page, tokens) -> {}));
    }
}
