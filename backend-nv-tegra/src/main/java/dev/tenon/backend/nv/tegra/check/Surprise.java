package dev.tenon.backend.nv.tegra.check;

/// A step found something else than expected.
final class Surprise extends Exception {
    private static final long serialVersionUID = 1L;

    private final String advice;

    Surprise(String found, String advice) {
        super(found);
        this.advice = advice;
    }

    String advice() {
        return advice;
    }
}
