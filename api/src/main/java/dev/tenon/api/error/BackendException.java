package dev.tenon.api.error;

import org.jspecify.annotations.Nullable;

/// A backend or its device failed: not available, a driver call refused, a launch that did not come back.
public class BackendException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final long nativeCode;

    /// Creates an error without a native code.
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    public BackendException(String code, String text) {
        this(code, text, 0, null);
    }

    /// Creates an error.
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    /// @param nativeCode the driver's own code (errno, CUresult), or 0 when there is none
    /// @param cause what led to it, or null
    public BackendException(String code, String text, long nativeCode, @Nullable Throwable cause) {
        super(code, text, cause);
        this.nativeCode = nativeCode;
    }

    /// {@return the driver's own code (errno, CUresult), or 0 when there is none}
    public final long nativeCode() {
        return nativeCode;
    }
}
