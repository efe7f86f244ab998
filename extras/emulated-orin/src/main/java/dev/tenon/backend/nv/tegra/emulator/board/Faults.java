package dev.tenon.backend.nv.tegra.emulator.board;

import java.util.ArrayList;
import java.util.List;

/// Makes an emulated board fail on request. Safe for any thread.
public final class Faults {
    private final List<String> calls = new ArrayList<>();
    private long failAt = -1;
    private int errno;
    private boolean hung;

    Faults() {}

    /// Has one of the calls that take something fail: open, ioctl, mmap. Counting starts again.
    ///
    /// @param call which, 0-based; -1 for none
    /// @param withErrno positive
    public synchronized void failCall(long call, int withErrno) {
        calls.clear();
        failAt = call;
        errno = withErrno;
    }

    /// {@return the calls since counting started}
    public synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    /// Has the GPU stop in the middle of its work, without a word.
    ///
    /// @param stop whether it does nothing from now on
    public synchronized void hang(boolean stop) {
        hung = stop;
    }

    synchronized boolean isHung() {
        return hung;
    }

    synchronized int next(String call) {
        int fault = calls.size() == failAt ? errno : 0;
        calls.add(call);
        return fault;
    }
}
