package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.command.PushBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The producer's end of a channel's ring. For one thread at a time.
///
/// ```
/// bit 63   | 62            42 | 41    | 40 | 39                       2 | 1 0
///     sync | number of words  | level | 0  | address of the words / 4   | 0
/// ```
///
/// `GP_GET` (at 0x88 of USERD) is where the GPU reads next, `GP_PUT` (0x8C) where the next entry
/// goes. The ring is full when PUT + 1 is GET.
public final class Gpfifo {
    /// Offset of GET in USERD.
    public static final int GET = 0x88;
    /// Offset of PUT in USERD.
    public static final int PUT = 0x8C;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long LEVEL = 1L << 41;

    private final GpuChannel channel;
    private final GpuWait wait;
    private final MemorySegment ring;
    private final MemorySegment userd;
    private int put;
    /// GET when it was last read: reading it can mean a way over a bus.
    private int get;

    /// @param channel a channel that nobody has submitted to yet
    /// @param wait how to wait
    public Gpfifo(GpuChannel channel, GpuWait wait) {
        this.channel = channel;
        this.wait = wait;
        this.ring = channel.ring();
        this.userd = channel.userd();
    }

    /// {@return a ring entry}
    ///
    /// @param va address of the words, a multiple of 4 below 2^40
    /// @param words how many
    public static long entry(long va, int words) {
        if (va % 4 != 0 || va < 0 || va >= 1L << 40) {
            throw new IllegalArgumentException(
                    "command words at 0x" + Long.toHexString(va) + "; expected a multiple of 4 below 2^40");
        }
        if (words < 1 || words > PushBuffer.MAX_WORDS) {
            throw new IllegalArgumentException(words + " command words; expected 1 to " + PushBuffer.MAX_WORDS);
        }
        return va | (long) words << 42 | LEVEL;
    }

    private int readGet() {
        get = (int) INT.getOpaque(userd, (long) GET);
        return get;
    }

    /// Has the GPU execute command words. Returns as soon as the entry is in the ring.
    ///
    /// @param va address of the words
    /// @param words how many
    public void submit(long va, int words) {
        long entry = entry(va, words);
        int next = (put + 1) % channel.entries();
        if (get == next) {
            wait.until(() -> readGet() != next, "space in the ring");
        }
        LONG.setOpaque(ring, 8L * put, entry);
        // The entry and the words are there before PUT moves, and PUT before the doorbell rings.
        VarHandle.fullFence();
        INT.setOpaque(userd, (long) PUT, next);
        VarHandle.fullFence();
        put = next;
        channel.ringDoorbell();
    }
}
