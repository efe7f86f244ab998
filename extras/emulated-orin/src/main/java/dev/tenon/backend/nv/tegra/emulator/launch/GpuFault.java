package dev.tenon.backend.nv.tegra.emulator.launch;

/// The GPU found an error: the driver tears the channel down.
public final class GpuFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Bits of the launch unit's error register.
    public enum Sked {
        CONSTANT_SIZE(7),
        LOCAL_SIZE(10),
        REGISTERS(13),
        THREADS(18),
        PROGRAM(20),
        SHARED_SIZE(21),
        ZERO_THREADS(23),
        WINDOWS(24),
        L1_CONFIG(25),
        REGISTER_FILE(26);

        final int bit;

        Sked(int bit) {
            this.bit = bit;
        }
    }

    private static final int EXCEPTION = 13;
    private static final int MMU = 31;
    private static final int PBDMA = 32;

    private final int code;

    private GpuFault(int code, String text) {
        super(text);
        this.code = code;
    }

    /// {@return what the driver writes into the channel's error notifier}
    public int code() {
        return code;
    }

    public static GpuFault mmu(long va, String what) {
        return new GpuFault(MMU, "mmu fault: " + what + " at 0x" + Long.toHexString(va) + ", where nothing is mapped");
    }

    public static GpuFault pbdma(String what) {
        return new GpuFault(PBDMA, "pbdma intr: " + what);
    }

    public static GpuFault semaphore(String what) {
        return new GpuFault(PBDMA, "pbdma intr: semaphore: " + what);
    }

    public static GpuFault sked(Sked error, String what) {
        return new GpuFault(EXCEPTION, String.format("sked exception esr 0x%08x: %s", 1 << error.bit, what));
    }

    public static GpuFault exception(String what) {
        return new GpuFault(EXCEPTION, "gr exception notifier: " + what);
    }

    public static GpuFault copyEngine(String what) {
        return new GpuFault(EXCEPTION, "CE exception: " + what);
    }
}
