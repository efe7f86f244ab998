package dev.tenon.api.media;

/// The sinc under a Blackman window, sampled so finely that straight lines between its values are
/// within 1e-6 of it.
final class SincTable {
    /// Zero crossings of one side, where it ends.
    static final int CROSSINGS = 32;

    private static final int STEPS = 1024;
    private static final double[] VALUES = new double[CROSSINGS * STEPS + 2];

    static {
        VALUES[0] = 1;
        for (int i = 1; i < CROSSINGS * STEPS; i++) {
            double angle = Math.PI * i / STEPS;
            double turn = angle / CROSSINGS;
            VALUES[i] = Math.sin(angle) / angle * (0.42 + 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn));
        }
    }

    private SincTable() {}

    /// {@return the value at a distance from the middle}
    ///
    /// @param distance zero crossings, 0 to `CROSSINGS`
    static double at(double distance) {
        double place = distance * STEPS;
        int index = (int) place;
        return VALUES[index] + (VALUES[index + 1] - VALUES[index]) * (place - index);
    }
}
