package dev.tenon.platform.bench.tune;

/// Tuning was told to end.
final class Interrupted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Interrupted() {
        super("told to end", null, false, false);
    }
}
