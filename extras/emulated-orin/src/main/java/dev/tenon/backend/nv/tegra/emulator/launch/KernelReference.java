package dev.tenon.backend.nv.tegra.emulator.launch;

/// What a kernel computes, in Java: one call for a whole launch.
@FunctionalInterface
public interface KernelReference {
    /// Does what the launch would do.
    ///
    /// @param launch its parameters and its memory
    void run(KernelLaunch launch);
}
