package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.InterpretException;

/// Leaves the body of a loop: `break` or `continue`. Text written before it stays.
final class LoopExit extends InterpretException {
    /// Ends the loop.
    static final LoopExit BREAK = new LoopExit("break");
    /// Goes on with the next item.
    static final LoopExit CONTINUE = new LoopExit("continue");

    private static final long serialVersionUID = 1L;

    private LoopExit(String name) {
        super(name);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
