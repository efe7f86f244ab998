package dev.tenon.kernels.nvidia;

/// What the planning needs to know of a device.
///
/// @param major compute capability, first part
/// @param minor compute capability, second part
/// @param multiprocessors number of streaming multiprocessors
/// @param sharedBytes most shared memory that a block can be given, in bytes
public record DeviceTraits(int major, int minor, int multiprocessors, int sharedBytes) {
    /// The oldest compute capability that the kernels are written for, as major * 10 + minor.
    public static final int OLDEST = 80;

    /// Checks the numbers.
    public DeviceTraits {
        if (multiprocessors < 1 || sharedBytes < 1) {
            throw new IllegalArgumentException(
                    multiprocessors + " multiprocessors with " + sharedBytes + " bytes; expected at least 1 each");
        }
    }

    /// {@return the same device as if it had the oldest compute capability: for code that was compiled for
    ///     that one, without clusters and programmatic launch}
    public DeviceTraits asOldest() {
        return new DeviceTraits(OLDEST / 10, OLDEST % 10, multiprocessors, sharedBytes);
    }

    /// {@return compute capability as one number, such as 87}
    public int capability() {
        return 10 * major + minor;
    }

    /// {@return the name of the real architecture to compile for, such as `sm_87`; Hopper's is
    ///     `sm_90a`, which has its tensor core instructions}
    public String architecture() {
        return "sm_" + capability() + (capability() == 90 ? "a" : "");
    }

    /// {@return whether kernels can be launched before their predecessors have ended (programmatic
    ///     dependent launch)}
    public boolean programmaticLaunch() {
        return capability() >= 90;
    }
}
