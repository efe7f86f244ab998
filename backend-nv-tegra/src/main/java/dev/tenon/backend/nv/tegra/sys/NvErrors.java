package dev.tenon.backend.nv.tegra.sys;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;

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

    /// {@return the error of a buffer for which a driver has no memory}
    ///
    /// @param refusal what the driver said
    /// @param purpose what the buffer is for
    /// @param asked its bytes
    /// @param used bytes that this process has
    public static OutOfResourcesException noMemory(BackendException refusal, String purpose, long asked, long used) {
        OutOfResourcesException full = new OutOfResourcesException(
                ErrorCode.MEMORY,
                "No memory for " + purpose + ": asked for " + asked + " bytes, " + used
                        + " in use by this process on the GPU. " + refusal.getMessage(),
                asked,
                used,
                0);
        full.addSuppressed(refusal);
        return full;
    }
}
