package dev.tenon.api.media;

import java.util.Arrays;
import java.util.List;

/// Whisper's log-mel spectrogram as llama.cpp makes it, in float64. Immutable; safe for any thread.
///
/// Windows of 25 ms under a Hann window, one every 10 ms; triangles on Slaney's mel scale up to 8 kHz;
/// powers below 2⁻²⁴ count as that, and those 80 dB below the strongest of the sound as those.
public final class MelSpectrogram {
    /// Samples of a second that a sound needs.
    public static final int RATE = 16_000;

    /// Frames of a piece: 30 seconds.
    public static final int PIECE_FRAMES = 3_000;

    private static final int HOP = 160;
    private static final int WINDOW = RealTransform.LENGTH;
    private static final double FLOOR = Math.log10(Math.scalb(1.0, -24));
    /// Mels of 1 kHz, where the scale goes on with equal ratios.
    private static final double LINEAR_MELS = 15;

    private static final double LOG_STEP = Math.log(6.4) / 27;

    private final int bins;
    /// Triangles over the frequencies of a window, and where each has its first value above 0.
    private final double[][] weights;

    private final int[] firsts;

    /// Prepares the filters.
    ///
    /// @param bins filters, such as 80 or 128; 1 to 200
    /// @throws IllegalArgumentException if there are fewer or more
    public MelSpectrogram(int bins) {
        if (bins < 1 || bins > 200) {
            throw new IllegalArgumentException(bins + " mel bins; expected 1 to 200");
        }
        this.bins = bins;
        this.weights = new double[bins][];
        this.firsts = new int[bins];
        double top = mels(RATE / 2.0);
        for (int bin = 0; bin < bins; bin++) {
            double left = hertz(top * bin / (bins + 1));
            double middle = hertz(top * (bin + 1) / (bins + 1));
            double right = hertz(top * (bin + 2) / (bins + 1));
            double[] triangle = new double[RealTransform.FREQUENCIES];
            int first = triangle.length;
            int end = 0;
            for (int k = 0; k < triangle.length; k++) {
                double frequency = (double) k * RATE / WINDOW;
                double value = Math.min((frequency - left) / (middle - left), (right - frequency) / (right - middle));
                if (value > 0) {
                    triangle[k] = value * 2 / (right - left);
                    first = Math.min(first, k);
                    end = k + 1;
                }
            }
            firsts[bin] = Math.min(first, end);
            weights[bin] = Arrays.copyOfRange(triangle, firsts[bin], end);
        }
    }

    private static double mels(double hertz) {
        return hertz < 1000 ? hertz * 3 / 200 : LINEAR_MELS + Math.log(hertz / 1000) / LOG_STEP;
    }

    private static double hertz(double mels) {
        return mels < LINEAR_MELS ? mels * 200 / 3 : 1000 * Math.exp((mels - LINEAR_MELS) * LOG_STEP);
    }

    /// {@return the number of filters}
    public int bins() {
        return bins;
    }

    /// Makes the spectrogram of a sound and the silence after it.
    ///
    /// @param sound of a rate of 16 kHz
    /// @return pieces of 30 seconds, `[bins][3000]` each: one for less than 29.99 s of sound, one more
    ///     for every 30 s more
    /// @throws IllegalArgumentException if the rate is another one
    public List<float[]> of(Sound sound) {
        if (sound.rate() != RATE) {
            throw new IllegalArgumentException("a sound of " + sound.rate() + " samples a second; expected " + RATE);
        }
        double[] padded = padded(sound.values());
        int frames = sound.length() / HOP + PIECE_FRAMES + 1;
        int pieces = frames / PIECE_FRAMES;
        float[][] result = new float[pieces][bins * PIECE_FRAMES];
        RealTransform transform = new RealTransform();
        double[] powers = new double[RealTransform.FREQUENCIES];
        double strongest = FLOOR;
        for (int frame = 0; frame < frames; frame++) {
            boolean heard = frame * HOP < padded.length - WINDOW;
            if (heard) {
                transform.powers(padded, frame * HOP, powers);
            }
            for (int bin = 0; bin < bins; bin++) {
                double value = heard ? level(powers, bin) : FLOOR;
                strongest = Math.max(strongest, value);
                if (frame < pieces * PIECE_FRAMES) {
                    result[frame / PIECE_FRAMES][bin * PIECE_FRAMES + frame % PIECE_FRAMES] = (float) value;
                }
            }
        }
        for (float[] piece : result) {
            for (int i = 0; i < piece.length; i++) {
                piece[i] = (float) ((Math.max(piece[i], strongest - 8) + 4) / 4);
            }
        }
        return List.of(result);
    }

    private double level(double[] powers, int bin) {
        double sum = 0;
        for (int i = 0; i < weights[bin].length; i++) {
            sum += weights[bin][i] * powers[firsts[bin] + i];
        }
        return Math.max(FLOOR, Math.log10(sum));
    }

    /// Half a window before the sound is its mirror image; after it there are zeros for the last
    /// windows that it reaches.
    private static double[] padded(float[] samples) {
        int half = WINDOW / 2;
        int length = Math.max(samples.length, half + 1);
        double[] padded = new double[half + length + WINDOW];
        for (int i = 0; i < samples.length; i++) {
            padded[half + i] = samples[i];
        }
        for (int i = 1; i <= half; i++) {
            padded[half - i] = padded[half + i];
        }
        return padded;
    }
}
