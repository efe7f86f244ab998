package dev.tenon.platform.bench.suite.programs;

/// A case cannot run here; the message says why, with numbers.
final class SkipException extends RuntimeException {
    private static final long serialVersionUID = 1;

    SkipException(String reason) {
        super(reason, null, false, false);
    }
}
