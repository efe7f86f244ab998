package dev.tenon.backend.nv.tegra.gpu;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/// Memory that is handed out piece after piece and used again from the start when the GPU is
/// through with what was there. For one thread at a time.
public final class GpuRing {
    private final GpuMemory memory;
    private final Timeline timeline;
    private final Deque<InUse> inUse = new ArrayDeque<>();
    private long position;
    private long unmarked = -1;

    /// A range that a submission uses.
    private record InUse(long from, long to, long value) {}

    /// @param memory what to hand out; borrowed
    /// @param timeline tells what is through
    public GpuRing(GpuMemory memory, Timeline timeline) {
        this.memory = memory;
        this.timeline = timeline;
    }

    /// {@return where a piece begins; it belongs to the submission that the next [#mark] names}
    ///
    /// @param bytes size
    /// @param align a power of two
    public long take(long bytes, long align) {
        if (bytes > memory.sizeBytes()) {
            throw new IllegalArgumentException(
                    bytes + " bytes for one submission; there are " + memory.sizeBytes() + " in all");
        }
        long from = (position + align - 1) / align * align;
        if (from + bytes > memory.sizeBytes()) {
            if (unmarked == 0) {
                throw new IllegalArgumentException(
                        "one submission needs more than the " + memory.sizeBytes() + " bytes that there are");
            }
            // What is older than everything at the start has to go first.
            while (!inUse.isEmpty() && inUse.peekFirst().from >= position) {
                timeline.await(inUse.removeFirst().value);
            }
            if (unmarked > 0) {
                // What was taken at the end stays in use as the submission that will name it.
                inUse.add(new InUse(unmarked, position, timeline.next()));
            }
            unmarked = 0;
            from = 0;
        } else if (unmarked < 0) {
            unmarked = from;
        }
        long to = from + bytes;
        while (!inUse.isEmpty() && overlaps(inUse.peekFirst(), from, to)) {
            long value = inUse.peekFirst().value;
            if (value >= timeline.next()) {
                throw new IllegalArgumentException(
                        "one submission needs more than the " + memory.sizeBytes() + " bytes that there are");
            }
            timeline.await(value);
            inUse.removeFirst();
        }
        position = to;
        return from;
    }

    private static boolean overlaps(InUse range, long from, long to) {
        return range.from < to && from < range.to;
    }

    /// Says which submission uses what was taken since the last call.
    ///
    /// @param value what it signals
    public void mark(long value) {
        if (unmarked >= 0 && position > unmarked) {
            inUse.add(new InUse(unmarked, position, value));
        }
        unmarked = -1;
    }

    /// Everything is through, and values start again.
    public void reset() {
        inUse.clear();
        unmarked = -1;
    }

    /// {@return a piece as the processor sees it}
    ///
    /// @param from what [#take] returned
    /// @param bytes its size
    public MemorySegment host(long from, long bytes) {
        return memory.host().asSlice(from, bytes);
    }

    /// {@return the address of a piece}
    ///
    /// @param from what [#take] returned
    public long va(long from) {
        return memory.va() + from;
    }
}
