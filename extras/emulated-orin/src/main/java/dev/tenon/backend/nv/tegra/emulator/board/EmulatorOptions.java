package dev.tenon.backend.nv.tegra.emulator.board;

/// What board is emulated, and how.
///
/// @param multiprocessors number of multiprocessors
/// @param memoryBytes memory that nvmap gives at most
/// @param maxFiles most open file descriptors
/// @param computeClass class of compute methods that the GPU says it has
/// @param flags characteristics flags
/// @param threaded whether a thread watches the doorbell; else the one that rings it does the work
/// @param deferred whether launches are put off until something waits for them, and then read their
///     descriptors and run in any order, which shows missing barriers and descriptors that are
///     written too early
/// @param seed for the order of deferred launches
public record EmulatorOptions(
        int multiprocessors,
        long memoryBytes,
        int maxFiles,
        int computeClass,
        long flags,
        boolean threaded,
        boolean deferred,
        long seed) {
    private static final long ORIN_FLAGS =
            1L | 1L << 18 | 1L << 20 | 1L << 22 | 1L << 28 | 1L << 29 | 1L << 30 | 1L << 42;

    /// {@return an AGX Orin}
    public static EmulatorOptions orin() {
        return new EmulatorOptions(16, 64L << 30, 4096, 0xC7C0, ORIN_FLAGS, false, false, 1);
    }

    /// {@return the same with other memory}
    ///
    /// @param bytes memory that nvmap gives at most
    public EmulatorOptions withMemory(long bytes) {
        return new EmulatorOptions(multiprocessors, bytes, maxFiles, computeClass, flags, threaded, deferred, seed);
    }

    /// {@return the same with a limit of files}
    ///
    /// @param files most open file descriptors
    public EmulatorOptions withMaxFiles(int files) {
        return new EmulatorOptions(multiprocessors, memoryBytes, files, computeClass, flags, threaded, deferred, seed);
    }

    /// {@return the same with another GPU}
    ///
    /// @param number compute class
    /// @param bits characteristics flags that are missing
    public EmulatorOptions withGpu(int number, long bits) {
        return new EmulatorOptions(
                multiprocessors, memoryBytes, maxFiles, number, flags & ~bits, threaded, deferred, seed);
    }

    /// {@return the same with a thread that watches the doorbell}
    public EmulatorOptions withThread() {
        return new EmulatorOptions(multiprocessors, memoryBytes, maxFiles, computeClass, flags, true, deferred, seed);
    }

    /// {@return the same with deferred launches}
    ///
    /// @param order seed
    public EmulatorOptions withDeferredLaunches(long order) {
        return new EmulatorOptions(multiprocessors, memoryBytes, maxFiles, computeClass, flags, threaded, true, order);
    }
}
