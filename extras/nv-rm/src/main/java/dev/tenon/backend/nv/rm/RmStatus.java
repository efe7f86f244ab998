package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.util.Map;

/// Statuses (`NV_STATUS`) of the resource manager and of UVM.
public final class RmStatus {
    /// No memory.
    public static final int NO_MEMORY = 0x51;
    /// Something else than memory has run out.
    public static final int INSUFFICIENT_RESOURCES = 0x1A;
    /// Not allowed.
    public static final int INSUFFICIENT_PERMISSIONS = 0x1B;
    /// An argument is wrong.
    public static final int INVALID_ARGUMENT = 0x1F;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(0x0F, "GPU_IS_LOST"),
            Map.entry(0x17, "IN_USE"),
            Map.entry(INSUFFICIENT_RESOURCES, "INSUFFICIENT_RESOURCES"),
            Map.entry(INSUFFICIENT_PERMISSIONS, "INSUFFICIENT_PERMISSIONS"),
            Map.entry(0x1E, "INVALID_ADDRESS"),
            Map.entry(INVALID_ARGUMENT, "INVALID_ARGUMENT"),
            Map.entry(0x22, "INVALID_CLASS"),
            Map.entry(0x23, "INVALID_CLIENT"),
            Map.entry(0x26, "INVALID_DEVICE"),
            Map.entry(0x29, "INVALID_FLAGS"),
            Map.entry(0x33, "INVALID_OBJECT_HANDLE"),
            Map.entry(0x36, "INVALID_OBJECT_PARENT"),
            Map.entry(0x3A, "INVALID_PARAM_STRUCT"),
            Map.entry(0x3D, "INVALID_POINTER"),
            Map.entry(0x40, "INVALID_STATE"),
            Map.entry(NO_MEMORY, "NO_MEMORY"),
            Map.entry(0x54, "NOT_COMPATIBLE"),
            Map.entry(0x56, "NOT_SUPPORTED"),
            Map.entry(0x57, "OBJECT_NOT_FOUND"),
            Map.entry(0x59, "OPERATING_SYSTEM"),
            Map.entry(0x65, "TIMEOUT"),
            Map.entry(0x68, "UVM_ADDRESS_IN_USE"));

    private RmStatus() {}

    /// {@return a status for people, such as `INVALID_CLASS (0x22)`}
    ///
    /// @param status not 0
    public static String name(int status) {
        return NAMES.getOrDefault(status, "NV_STATUS") + " (0x" + Integer.toHexString(status) + ")";
    }

    /// {@return the error of a call that the driver refused}
    ///
    /// @param call which, for what
    /// @param status not 0
    static BackendException error(String call, int status) {
        String advice = switch (status) {
            case NO_MEMORY, INSUFFICIENT_RESOURCES ->
                " Close other programs that use the GPU, or take a smaller model or context.";
            case INSUFFICIENT_PERMISSIONS -> " Another user or a container's rules may be in the way.";
            default -> " This was written for driver branch 580 and Hopper GPUs.";
        };
        return new BackendException(NvErrors.DRIVER, call + " failed: " + name(status) + "." + advice, status, null);
    }
}
