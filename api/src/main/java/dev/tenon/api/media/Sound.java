package dev.tenon.api.media;

/// A sound of one channel. Immutable; safe for any thread.
public final class Sound {
    private final float[] samples;
    private final int rate;

    private Sound(float[] samples, int rate) {
        this.samples = samples;
        this.rate = rate;
    }

    /// Makes a sound of samples.
    ///
    /// @param samples usually from -1 to 1; copied
    /// @param rate samples of a second, at least 1
    /// @return a new sound
    /// @throws IllegalArgumentException if the rate is less, or a sample is not finite
    public static Sound of(float[] samples, int rate) {
        if (rate < 1) {
            throw new IllegalArgumentException("a rate of " + rate + " samples a second; expected 1 or more");
        }
        for (int i = 0; i < samples.length; i++) {
            if (!Float.isFinite(samples[i])) {
                throw new IllegalArgumentException("sample " + i + " is " + samples[i] + "; expected a number");
            }
        }
        return new Sound(samples.clone(), rate);
    }

    /// {@return a copy of the samples}
    public float[] samples() {
        return samples.clone();
    }

    /// The array itself, which nobody may change.
    float[] values() {
        return samples;
    }

    /// {@return the number of samples}
    public int length() {
        return samples.length;
    }

    /// {@return samples of a second}
    public int rate() {
        return rate;
    }

    /// {@return how long it is}
    public double seconds() {
        return (double) samples.length / rate;
    }

    /// Makes the same sound of another rate: by a sinc of 32 zero crossings to each side under a
    /// Blackman window, cut off at half of the lower rate, with silence around the sound.
    ///
    /// @param wanted samples of a second, at least 1
    /// @return a new sound of `ceil(length * wanted / rate)` samples, or this one if it has the rate
    /// @throws IllegalArgumentException if the rate is less, or the sound would have 2³¹ samples
    public Sound resampled(int wanted) {
        if (wanted == rate) {
            return this;
        }
        long length = wanted < 1 ? 0 : Math.ceilDiv((long) samples.length * wanted, rate);
        if (wanted < 1 || length > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException("a sound of " + samples.length + " samples at a rate of " + rate
                    + " does not go to a rate of " + wanted + "; expected 1 or more, and fewer than 2^31 samples");
        }
        float[] result = new float[(int) length];
        // Samples of this sound from one zero crossing to the next.
        double crossing = Math.max(1, (double) rate / wanted);
        for (int i = 0; i < result.length; i++) {
            double place = (double) i * rate / wanted;
            int first = Math.max(0, (int) Math.ceil(place - SincTable.CROSSINGS * crossing));
            int last = Math.min(samples.length - 1, (int) (place + SincTable.CROSSINGS * crossing));
            double sum = 0;
            for (int from = first; from <= last; from++) {
                sum += samples[from] * SincTable.at(Math.abs(place - from) / crossing);
            }
            result[i] = (float) (sum / crossing);
        }
        return new Sound(result, wanted);
    }

    @Override
    public String toString() {
        return "Sound of " + samples.length + " samples, " + rate + " a second";
    }
}
