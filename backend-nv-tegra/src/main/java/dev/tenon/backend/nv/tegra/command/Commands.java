package dev.tenon.backend.nv.tegra.command;

/// Command sequences, each appended to a [PushBuffer]. What a method returns is where a word that
/// may be patched later is: the low payload word of a semaphore, the low address word of anything
/// else.
public final class Commands {
    private static final long MAX_LOCAL_WINDOW = 1L << 49;
    private static final int HOPPER_SPA = 0x900;
    /// Launch descriptors 4.0; the oldest that may come is 0.1.
    private static final int HOPPER_QMD = 0x10040;
    private static final int REFERENCE_COUNTERS = 64;
    private static final int REFERENCE_VALUE = 0x2100;

    private Commands() {}

    private static int high(long value) {
        return (int) (value >>> 32);
    }

    private static int low(long value) {
        return (int) value;
    }

    /// Binds a class to a subchannel.
    ///
    /// @param to the list
    /// @param subchannel [Methods#COMPUTE] or [Methods#COPY]
    /// @param engineClass class number
    public static void setObject(PushBuffer to, int subchannel, int engineClass) {
        to.incrementing(subchannel, Methods.SET_OBJECT, engineClass);
    }

    /// Places the two windows through which generic addresses reach local and shared memory.
    ///
    /// @param to the list
    /// @param layout where they are
    public static void windows(PushBuffer to, AddressLayout layout) {
        localWindow(to, layout.localWindow());
        sharedWindow(to, layout.sharedWindow());
    }

    /// What CUDA sets beside the windows on a Hopper GPU.
    ///
    /// @param to the list
    /// @param va memory for launches that the scheduler has to put aside
    /// @param bytes its size
    public static void setUpHopper(PushBuffer to, long va, long bytes) {
        to.incrementing(Methods.COMPUTE, Methods.SPA_VERSION, HOPPER_SPA);
        to.incrementing(Methods.COMPUTE, Methods.QMD_VERSION, HOPPER_QMD);
        for (int counter = 0; counter < REFERENCE_COUNTERS; counter++) {
            to.incrementing(Methods.COMPUTE, Methods.CWD_REF_COUNTER, REFERENCE_VALUE << 8 | counter);
        }
        to.incrementing(Methods.COMPUTE, Methods.VALID_SPAN_OVERFLOW_A, high(va), low(va), (int) bytes);
    }

    public static void localWindow(PushBuffer to, long va) {
        to.incrementing(Methods.COMPUTE, Methods.LOCAL_WINDOW_A, high(va), low(va));
    }

    public static void sharedWindow(PushBuffer to, long va) {
        to.incrementing(Methods.COMPUTE, Methods.SHARED_WINDOW_A, high(va), low(va));
    }

    /// Gives kernels memory for stacks.
    ///
    /// @param to the list
    /// @param va its address
    /// @param bytesPerTpc bytes for each TPC, a multiple of 32 KiB
    /// @param most at most how many of them there are
    public static void localMemory(PushBuffer to, long va, long bytesPerTpc, int most) {
        if (va >= MAX_LOCAL_WINDOW) {
            throw new IllegalArgumentException("local memory at 0x" + Long.toHexString(va));
        }
        to.incrementing(Methods.COMPUTE, Methods.LOCAL_MEMORY_A, high(va), low(va));
        to.incrementing(
                Methods.COMPUTE, Methods.LOCAL_MEMORY_NON_THROTTLED_A, high(bytesPerTpc), low(bytesPerTpc), most);
    }

    /// Waits until a signal has reached a value.
    ///
    /// @param to the list
    /// @param va the signal's address, a multiple of 8
    /// @param value the value, 64 bits
    /// @return index of the low payload word; the high one follows
    public static int acquire(PushBuffer to, long va, long value) {
        return semaphore(to, va, value, Methods.SEM_ACQUIRE_CIRC_GEQ_64) + 2;
    }

    /// Writes a value and the time into a signal, after all work before.
    ///
    /// @param to the list
    /// @param va the signal's address, a multiple of 16
    /// @param value the value, 64 bits
    /// @return index of the low payload word; the high one follows
    public static int release(PushBuffer to, long va, long value) {
        return semaphore(to, va, value, Methods.SEM_RELEASE_TIMESTAMP_64) + 2;
    }

    /// Writes 32 bits, after all work before.
    ///
    /// @param to the list
    /// @param va address, a multiple of 4
    /// @param value the value
    /// @return index of the low payload word
    public static int write(PushBuffer to, long va, int value) {
        return semaphore(to, va, Integer.toUnsignedLong(value), Methods.SEM_RELEASE_32) + 2;
    }

    /// Waits until a bit of memory is as wanted.
    ///
    /// @param to the list
    /// @param va address, a multiple of 4
    /// @param mask the bit
    /// @param set whether to wait until it is 1, or until it is 0
    /// @return index of the low payload word
    public static int pollBit(PushBuffer to, long va, int mask, boolean set) {
        // NOR is true where both are 0, so that all other bits are 1 in the payload.
        return semaphore(
                        to,
                        va,
                        Integer.toUnsignedLong(set ? mask : ~mask),
                        set ? Methods.SEM_ACQUIRE_AND : Methods.SEM_ACQUIRE_NOR)
                + 2;
    }

    private static int semaphore(PushBuffer to, long va, long value, int action) {
        return to.incrementing(Methods.HOST, Methods.SEM_ADDR_LO, low(va), high(va), low(value), high(value), action);
    }

    /// Interrupts the host, which nobody needs who polls.
    ///
    /// @param to the list
    public static void interrupt(PushBuffer to) {
        to.incrementing(Methods.HOST, Methods.NON_STALL_INTERRUPT, 0);
    }

    /// Waits until the engine is idle: the barrier between a kernel and one that reads what it
    /// wrote.
    ///
    /// @param to the list
    public static void waitForIdle(PushBuffer to) {
        to.incrementing(Methods.COMPUTE, Methods.WAIT_FOR_IDLE, 0);
    }

    /// Makes kernels see what others wrote: the host, the copy engine.
    ///
    /// @param to the list
    public static void memoryBarrier(PushBuffer to) {
        to.incrementing(Methods.COMPUTE, Methods.INVALIDATE_SHADER_CACHES_NO_WFI, Methods.INVALIDATE_ALL);
    }

    /// Forgets code, data and constants that were read before; needed before code runs in memory
    /// that held other code.
    ///
    /// @param to the list
    public static void invalidateShaderCaches(PushBuffer to) {
        to.incrementing(Methods.COMPUTE, Methods.INVALIDATE_SHADER_CACHES, Methods.INVALIDATE_ALL);
    }

    /// Launches a kernel.
    ///
    /// @param to the list
    /// @param qmdVa address of its launch descriptor, a multiple of 256 below 2^40
    /// @param format version of the descriptor
    /// @return index of the word with the address divided by 256
    public static int launch(PushBuffer to, long qmdVa, QmdFormat format) {
        if (qmdVa % Qmd.ALIGNMENT != 0 || qmdVa < 0 || qmdVa >= 1L << 40) {
            throw new IllegalArgumentException("launch descriptor at 0x" + Long.toHexString(qmdVa)
                    + "; expected a multiple of " + Qmd.ALIGNMENT + " below 2^40");
        }
        int index = to.incrementing(Methods.COMPUTE, Methods.SEND_PCAS_A, (int) (qmdVa >> 8));
        to.incrementing(
                Methods.COMPUTE,
                Methods.SEND_SIGNALING_PCAS2_B,
                format == QmdFormat.V4
                        ? Methods.PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE
                        : Methods.PCAS_PREFETCH_SCHEDULE);
        return index;
    }

    /// Copies bytes with the copy engine, in pieces of at most 2^31 bytes.
    ///
    /// @param to the list
    /// @param from address
    /// @param target address
    /// @param bytes how many
    /// @return index of the high word of the first source address; low word, target high and low
    ///     follow
    public static int copy(PushBuffer to, long from, long target, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a copy of " + bytes + " bytes");
        }
        int index = -1;
        for (long done = 0; done < bytes; done += Methods.MAX_COPY_BYTES) {
            long part = Math.min(Methods.MAX_COPY_BYTES, bytes - done);
            int at = to.incrementing(
                    Methods.COPY,
                    Methods.COPY_OFFSET_IN_UPPER,
                    high(from + done),
                    low(from + done),
                    high(target + done),
                    low(target + done));
            index = index < 0 ? at : index;
            to.incrementing(Methods.COPY, Methods.COPY_LINE_LENGTH, (int) part);
            to.incrementing(Methods.COPY, Methods.COPY_LAUNCH, Methods.COPY_LINEAR);
        }
        return index;
    }

    /// Writes a 32-bit value and the time into a signal, from the copy engine, after all copies
    /// before.
    ///
    /// @param to the list
    /// @param va the signal's address, a multiple of 16
    /// @param value the value
    /// @return index of the payload word
    public static int copySignal(PushBuffer to, long va, int value) {
        int index = to.incrementing(Methods.COPY, Methods.COPY_SEMAPHORE_A, high(va), low(va), value) + 2;
        to.incrementing(Methods.COPY, Methods.COPY_LAUNCH, Methods.COPY_SIGNAL);
        return index;
    }
}
