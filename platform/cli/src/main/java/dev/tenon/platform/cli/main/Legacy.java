package dev.tenon.platform.cli.main;

import java.util.List;

/// What one run of a command leaves to the next. Safe for any thread.
final class Legacy {
    private List<AutoCloseable> things;

    /// Leaves things; replaces none.
    synchronized void leave(List<AutoCloseable> left) {
        if (things != null) {
            throw new IllegalStateException("something has been left that nobody took");
        }
        things = List.copyOf(left);
    }

    /// {@return whether something was left that nobody has taken}
    synchronized boolean isLeft() {
        return things != null;
    }

    /// {@return what was left; an empty list where nothing was}
    synchronized List<AutoCloseable> take() {
        List<AutoCloseable> taken = things == null ? List.of() : things;
        things = null;
        return taken;
    }
}
