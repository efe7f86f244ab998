package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.api.config.Setting;
import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits for the GPU: looks again and again for some microseconds, then sleeps in between. After a
/// failure the device is of no more use, and every further wait says so at once. Safe for any
/// thread.
public final class GpuWait {
    private static final long SPIN_NANOS = 50_000;
    private static final long YIELD_NANOS = 200_000;
    private static final long PARK_NANOS = 20_000;

    private static final String TIMEOUT = "nv-tegra.timeout-ms";

    private static final int DEFAULT_MILLIS = 30_000;

    /// How long the GPU may take.
    public static final Setting SETTING = Setting.integer(
            TIMEOUT, DEFAULT_MILLIS, 1, Integer.MAX_VALUE, "Milliseconds after which the GPU counts as hung.");

    private final GpuInterface gpu;
    private final long timeoutNanos;
    private volatile String failure;

    /// @param gpu whose driver is asked what happened
    /// @param timeoutMillis how long to wait
    public GpuWait(GpuInterface gpu, long timeoutMillis) {
        this.gpu = gpu;
        this.timeoutNanos = timeoutMillis * 1_000_000;
    }

    /// {@return how long the GPU may take before it counts as hung}
    ///
    /// @param settings by name
    /// @throws IllegalArgumentException if the setting is no number above 0
    public static long timeoutMillis(Map<String, String> settings) {
        String text = settings.getOrDefault(TIMEOUT, Integer.toString(DEFAULT_MILLIS));
        try {
            int millis = Integer.parseInt(text);
            if (millis > 0) {
                return millis;
            }
        } catch (NumberFormatException e) {
            throw refused(text, e);
        }
        throw refused(text, null);
    }

    private static IllegalArgumentException refused(String text, NumberFormatException cause) {
        return new IllegalArgumentException(TIMEOUT + " is '" + text + "'; expected at least 1", cause);
    }

    /// Waits.
    ///
    /// @param done what for
    /// @param what for messages
    /// @throws BackendException (`NV-002`) after the time-out, with what the driver knows
    public void until(BooleanSupplier done, String what) {
        if (done.getAsBoolean()) {
            return;
        }
        if (failure != null) {
            throw failed(failure);
        }
        long begin = System.nanoTime();
        while (!done.getAsBoolean()) {
            long waited = System.nanoTime() - begin;
            if (waited < SPIN_NANOS) {
                Thread.onSpinWait();
            } else if (waited < YIELD_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
            // Once more: the process itself may have stood still since the last look, and the GPU not.
            if (waited > timeoutNanos && !done.getAsBoolean()) {
                String known = gpu.diagnosis();
                failure = "The GPU did not come back within " + timeoutNanos / 1_000_000 + " ms, waiting for " + what
                        + ". " + (known.isEmpty() ? "The driver reports no error." : known);
                throw failed(failure);
            }
        }
    }

    /// {@return whether a wait has failed}
    public boolean isFailed() {
        return failure != null;
    }

    private static BackendException failed(String text) {
        return new BackendException(
                NvErrors.FAULT, text + " Close the device and open it again; `dmesg` may say more.");
    }
}
