package dev.tenon.backend.cpu.vector.kernel;

/// The exponential function in float32: the same bits as [VectorExp], one number at a time.
///
/// `e^x = 2^n * e^r` with `n = round(x / ln 2)` and `|r| <= ln(2) / 2`; `e^r` is its Taylor polynomial of
/// degree 6, whose relative error there is 1.3e-7. `n` comes from the low bits of `x / ln 2 + 1.5 * 2^23`,
/// and is added to the exponent's bits.
public final class Exp {
    /// Below this the result is 0 (`e^LOW` is 2.7e-38).
    static final float LOW = -86.5f;
    /// Above this the result is infinite.
    static final float HIGH = 88.7f;
    /// 1 / ln 2.
    static final float LOG2_E = 1.44269504f;
    /// 1.5 * 2^23: adding it rounds to a whole number, which then stands in the low bits.
    static final float ROUND = 12582912f;
    /// ln 2 as a sum: this has few bits, so that its product with `n` is exact, and [#LN2_LOW] is the rest.
    static final float LN2_HIGH = 0.693359375f;
    /// The rest of ln 2.
    static final float LN2_LOW = -2.12194440e-4f;
    /// Coefficients of `r^2` to `r^6`.
    static final float C2 = 0.5f;

    static final float C3 = 1 / 6f;
    static final float C4 = 1 / 24f;
    static final float C5 = 1 / 120f;
    static final float C6 = 1 / 720f;

    private Exp() {}

    /// {@return e to the power of x; relative error at most 3e-7, 0 below [#LOW], infinite above [#HIGH]}
    ///
    /// @param x argument
    public static float exp(float x) {
        if (x < LOW) {
            return 0;
        }
        if (x > HIGH) {
            return Float.POSITIVE_INFINITY;
        }
        float shifted = Math.fma(x, LOG2_E, ROUND);
        float n = shifted - ROUND;
        float r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, x));
        float p = Math.fma(r, C6, C5);
        p = Math.fma(p, r, C4);
        p = Math.fma(p, r, C3);
        p = Math.fma(p, r, C2);
        p = Math.fma(p, r, 1);
        p = Math.fma(p, r, 1);
        return Float.intBitsToFloat(Float.floatToRawIntBits(p) + (Float.floatToRawIntBits(shifted) << 23));
    }
}
