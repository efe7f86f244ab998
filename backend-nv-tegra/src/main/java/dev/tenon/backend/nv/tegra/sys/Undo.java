package dev.tenon.backend.nv.tegra.sys;

import java.util.ArrayDeque;
import java.util.Deque;

/// What has to be released, last taken first. For one thread at a time.
public final class Undo implements AutoCloseable {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    /// Adds how to release what was just taken.
    ///
    /// @param step how
    public void add(Runnable step) {
        steps.push(step);
    }

    @Override
    public void close() {
        while (!steps.isEmpty()) {
            steps.pop().run();
        }
    }
}
