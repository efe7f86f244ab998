package dev.tenon.api.media;

/// The power spectrum of windows of 400 samples under a periodic Hann window. For one thread.
final class RealTransform {
    static final int LENGTH = 400;
    static final int FREQUENCIES = LENGTH / 2 + 1;

    /// The length that four halvings of 400 leave.
    private static final int ODD = 25;

    private static final double[] COS = new double[LENGTH];
    private static final double[] SIN = new double[LENGTH];

    static {
        for (int i = 0; i < LENGTH; i++) {
            COS[i] = Math.cos(2 * Math.PI * i / LENGTH);
            SIN[i] = Math.sin(2 * Math.PI * i / LENGTH);
        }
    }

    private final double[] window = new double[LENGTH];
    private final double[] real = new double[LENGTH];
    private final double[] imaginary = new double[LENGTH];

    /// Computes the powers of one window.
    ///
    /// @param samples borrowed
    /// @param start where the window begins; 400 samples are there
    /// @param powers `[201]`, filled with the squares of the absolute values
    void powers(double[] samples, int start, double[] powers) {
        for (int i = 0; i < LENGTH; i++) {
            window[i] = samples[start + i] * (0.5 - 0.5 * COS[i]);
        }
        transform(0, 1, 0, LENGTH);
        for (int k = 0; k < FREQUENCIES; k++) {
            powers[k] = real[k] * real[k] + imaginary[k] * imaginary[k];
        }
    }

    /// Transforms `length` samples of the window, every `step`-th from `from`, to the values from
    /// `to`: the even and the odd ones apart, as long as that goes.
    private void transform(int from, int step, int to, int length) {
        if (length == ODD) {
            for (int k = 0; k < ODD; k++) {
                double re = 0;
                double im = 0;
                for (int i = 0; i < ODD; i++) {
                    int turn = i * k % ODD * (LENGTH / ODD);
                    re += window[from + i * step] * COS[turn];
                    im -= window[from + i * step] * SIN[turn];
                }
                real[to + k] = re;
                imaginary[to + k] = im;
            }
            return;
        }
        int half = length / 2;
        transform(from, step * 2, to, half);
        transform(from + step, step * 2, to + half, half);
        for (int k = 0; k < half; k++) {
            int turn = k * step;
            double re = real[to + half + k] * COS[turn] + imaginary[to + half + k] * SIN[turn];
            double im = imaginary[to + half + k] * COS[turn] - real[to + half + k] * SIN[turn];
            real[to + half + k] = real[to + k] - re;
            imaginary[to + half + k] = imaginary[to + k] - im;
            real[to + k] += re;
            imaginary[to + k] += im;
        }
    }
}
