package dev.tenon.backend.nv.tegra.gpu;

/// The order of everything that is submitted to a device: submission n waits for n - 1 and signals
/// n. For one thread at a time, but for [#isReached].
public final class Timeline {
    /// The largest value: the copy engine writes 32 bits, which are compared as signed numbers.
    public static final long MAX_VALUE = (1L << 31) - 1;

    private final GpuWait wait;
    private final long last;
    private GpuSignal signal;
    private GpuSignal shadow;
    private long next = 1;
    private long epoch;

    /// @param signal zero
    /// @param shadow takes over when values run out
    /// @param last the largest value to use, at most [#MAX_VALUE]
    /// @param wait how to wait
    public Timeline(GpuSignal signal, GpuSignal shadow, long last, GpuWait wait) {
        this.signal = signal;
        this.shadow = shadow;
        this.last = last;
        this.wait = wait;
    }

    /// {@return the signal, until [#renew] changes it}
    public GpuSignal signal() {
        return signal;
    }

    /// {@return the value that the next submission signals}
    public long next() {
        return next;
    }

    /// {@return how often values have started again at 1}
    public long epoch() {
        return epoch;
    }

    /// Counts a submission.
    public void advance() {
        next++;
    }

    /// {@return whether a submission is through}
    ///
    /// @param value what it signals
    public boolean isReached(long value) {
        return signal.value() >= value;
    }

    /// Waits for a submission.
    ///
    /// @param value what it signals
    public void await(long value) {
        wait.until(() -> isReached(value), "submission " + value + " of " + (next - 1));
    }

    /// Waits for everything that was submitted.
    public void synchronize() {
        await(next - 1);
    }

    /// {@return whether the values have run out; [#renew] has to follow}
    public boolean isExhausted() {
        return next > last;
    }

    /// Starts again at 1 with the other signal, when everything is through.
    public void renew() {
        synchronize();
        GpuSignal old = signal;
        signal = shadow;
        shadow = old;
        signal.set(0);
        next = 1;
        epoch++;
    }
}
