package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.sys.Linux;

/// The error codes of this backend; `docs/errors.md` has a paragraph on each.
public final class NvErrors {
    /// A driver refused a call.
    public static final String DRIVER = "NV-001";
    /// The GPU did not come back, or stopped with an error.
    public static final String FAULT = "NV-002";
    /// A cubin cannot be used.
    public static final String CUBIN = "NV-003";
    /// The board or its driver is not what this backend was written for.
    public static final String BOARD = "NV-004";

    private NvErrors() {}

    /// {@return the error of a call that a driver refused}
    ///
    /// @param call which, on what, for what
    /// @param errno positive
    /// @param advice what to do
    public static BackendException driver(String call, int errno, String advice) {
        return new BackendException(
                DRIVER,
                call + " failed: " + Linux.name(errno) + "." + (advice.isEmpty() ? "" : " " + advice),
                errno,
                null);
    }
}
