package dev.tenon.api.media;

/// Samples as an encoder expects them: `(sample / 255 - mean) / std` in float32, in this order.
/// Immutable.
public final class Normalisation {
    private final float[][] values = new float[3][256];

    private Normalisation(float[] mean, float[] std) {
        for (int channel = 0; channel < 3; channel++) {
            for (int sample = 0; sample < 256; sample++) {
                values[channel][sample] = (sample / 255f - mean[channel]) / std[channel];
            }
        }
    }

    /// {@return the normalisation by a mean and a deviation}
    ///
    /// @param mean of red, green and blue
    /// @param std of red, green and blue, not 0
    /// @throws IllegalArgumentException if these are not three finite numbers each, or a deviation is 0
    public static Normalisation of(float[] mean, float[] std) {
        check("mean", mean);
        check("deviation", std);
        for (float each : std) {
            if (each == 0) {
                throw new IllegalArgumentException("a deviation of samples is 0; expected another number");
            }
        }
        return new Normalisation(mean, std);
    }

    private static void check(String what, float[] numbers) {
        if (numbers.length != 3) {
            throw new IllegalArgumentException(
                    "a " + what + " of samples has " + numbers.length + " numbers; expected 3");
        }
        for (float each : numbers) {
            if (!Float.isFinite(each)) {
                throw new IllegalArgumentException("a " + what + " of samples is " + each + "; expected a number");
            }
        }
    }

    /// Normalises a picture.
    ///
    /// @param picture the picture
    /// @return `[height][width][3]`
    public float[] apply(Picture picture) {
        byte[] samples = picture.samples();
        float[] result = new float[samples.length];
        for (int i = 0; i < samples.length; i++) {
            result[i] = values[i % 3][samples[i] & 0xff];
        }
        return result;
    }
}
