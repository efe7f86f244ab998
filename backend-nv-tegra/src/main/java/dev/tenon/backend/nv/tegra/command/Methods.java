package dev.tenon.backend.nv.tegra.command;

/// Method addresses, in bytes, as NVIDIA's class headers number them, and the values that are used
/// with them.
///
/// Host methods are those of channel class 0xC76F (and 0xC56F, 0xC86F); compute those of 0xC7C0
/// (and 0xCBC0); copy those of 0xC7B5 (and 0xC8B5).
public final class Methods {
    /// Subchannel of host methods; any would do.
    public static final int HOST = 0;
    /// Subchannel of the compute class.
    public static final int COMPUTE = 1;
    /// Subchannel of the copy class, fixed by the hardware.
    public static final int COPY = 4;
    /// The first method that belongs to a class; those below are host methods on every subchannel.
    public static final int FIRST_CLASS_METHOD = 0x100;

    /// All classes: the class itself.
    public static final int SET_OBJECT = 0x000;

    /// Host: interrupt, without stopping.
    public static final int NON_STALL_INTERRUPT = 0x20;
    /// Host: semaphore address, low word; four more words follow.
    public static final int SEM_ADDR_LO = 0x5C;
    /// Host: semaphore address, high word.
    public static final int SEM_ADDR_HI = 0x60;
    /// Host: payload, low word.
    public static final int SEM_PAYLOAD_LO = 0x64;
    /// Host: payload, high word.
    public static final int SEM_PAYLOAD_HI = 0x68;
    /// Host: acts on the semaphore.
    public static final int SEM_EXECUTE = 0x6C;
    /// Host: waits until the engine is idle.
    public static final int WFI = 0x78;

    /// SEM_EXECUTE: waits until memory - payload is at least 0 as a signed number, 64 bits.
    public static final int SEM_ACQUIRE_CIRC_GEQ_64 = 0x01000003;
    /// SEM_EXECUTE: waits until memory AND payload is not 0, 32 bits.
    public static final int SEM_ACQUIRE_AND = 4;
    /// SEM_EXECUTE: waits until memory NOR payload is not 0, 32 bits.
    public static final int SEM_ACQUIRE_NOR = 5;
    /// SEM_EXECUTE: writes 64 bits and the time, after what was launched before.
    public static final int SEM_RELEASE_TIMESTAMP_64 = 0x03100001;
    /// SEM_EXECUTE: writes 32 bits, after what was launched before.
    public static final int SEM_RELEASE_32 = 0x00100001;

    /// Compute: waits for all launches before.
    public static final int WAIT_FOR_IDLE = 0x110;
    /// Compute: invalidates caches after waiting for idle.
    public static final int INVALIDATE_SHADER_CACHES = 0x21C;
    /// Hopper's compute: where the scheduler may put launches aside: address high and low, size.
    public static final int VALID_SPAN_OVERFLOW_A = 0x200;
    /// Hopper's compute: a counter of references of a group of launches.
    public static final int CWD_REF_COUNTER = 0x248;
    /// Compute: version of launch descriptors.
    public static final int QMD_VERSION = 0x288;
    /// Compute: base of the shared memory window, high word; the low word follows.
    public static final int SHARED_WINDOW_A = 0x2A0;
    /// Compute: QMD address divided by 256.
    public static final int SEND_PCAS_A = 0x2B4;
    /// Compute: launches.
    public static final int SEND_SIGNALING_PCAS2_B = 0x2C0;
    /// Compute: local memory per TPC, high and low word, then the most SMs.
    public static final int LOCAL_MEMORY_NON_THROTTLED_A = 0x2E4;
    /// Compute: version of the multiprocessors.
    public static final int SPA_VERSION = 0x310;
    /// Compute: local memory, high word; the low word follows.
    public static final int LOCAL_MEMORY_A = 0x790;
    /// Compute: base of the local memory window, high word; the low word follows.
    public static final int LOCAL_WINDOW_A = 0x7B0;
    /// Compute: invalidates caches without waiting.
    public static final int INVALIDATE_SHADER_CACHES_NO_WFI = 0x1698;

    /// INVALIDATE_SHADER_CACHES: instructions, data and constants.
    public static final int INVALIDATE_ALL = 0x1011;
    /// SEND_SIGNALING_PCAS2_B: schedule.
    public static final int PCAS_SCHEDULE = 2;
    /// SEND_SIGNALING_PCAS2_B: fetch ahead, then schedule.
    public static final int PCAS_PREFETCH_SCHEDULE = 9;
    /// SEND_SIGNALING_PCAS2_B: forget an older descriptor at this address, then as before; what CUDA
    /// uses on Hopper.
    public static final int PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE = 10;

    /// Copy: semaphore address, high word; low word and payload follow.
    public static final int COPY_SEMAPHORE_A = 0x240;
    /// Copy: acts.
    public static final int COPY_LAUNCH = 0x300;
    /// Copy: source, high and low word, then target.
    public static final int COPY_OFFSET_IN_UPPER = 0x400;
    /// Copy: bytes of a line.
    public static final int COPY_LINE_LENGTH = 0x418;

    /// COPY_LAUNCH: one line of bytes, not pipelined.
    public static final int COPY_LINEAR = 0x182;
    /// COPY_LAUNCH: writes a semaphore of four words with the time, after a flush.
    public static final int COPY_SIGNAL = 0x14;
    /// Most bytes of one copy.
    public static final long MAX_COPY_BYTES = 1L << 31;

    private Methods() {}
}
