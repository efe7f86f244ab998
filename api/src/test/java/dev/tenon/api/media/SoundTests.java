package dev.tenon.api.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SoundTests {
    /// The files hold the frames that the sound reaches; `fill` is what all others are.
    @ParameterizedTest
    @CsvSource({
        "80, chirp, 89, -0.6262484788894653",
        "80, short, 5, -0.8061800003051758",
        "128, chirp, 89, -0.5915703773498535",
        "128, short, 5, -0.7929902076721191"
    })
    void spectrogramsAreThoseOfFloat64(int bins, String name, int frames, float fill) throws IOException {
        List<float[]> pieces = new MelSpectrogram(bins).of(sound(name));
        assertEquals(1, pieces.size());
        float[] piece = pieces.getFirst();
        assertEquals(bins * 3000, piece.length);
        ByteBuffer expected = read("mel" + bins + "." + name + ".f32");
        assertEquals(bins * frames * 4, expected.remaining());
        for (int bin = 0; bin < bins; bin++) {
            for (int frame = 0; frame < 3000; frame++) {
                float value = frame < frames ? expected.getFloat((bin * frames + frame) * 4) : fill;
                assertEquals(value, piece[bin * 3000 + frame], 1e-5f, bin + ", " + frame);
            }
        }
    }

    @Test
    void everyThirtySecondsAreOneMorePiece() {
        MelSpectrogram mel = new MelSpectrogram(80);
        assertEquals(1, mel.of(Sound.of(new float[0], 16_000)).size());
        assertEquals(1, mel.of(Sound.of(new float[2999 * 160 - 1], 16_000)).size());
        assertEquals(2, mel.of(Sound.of(new float[2999 * 160], 16_000)).size());
        assertThrows(IllegalArgumentException.class, () -> mel.of(Sound.of(new float[1], 8_000)));
    }

    /// A tone below half of both rates stays the same tone, wherever the samples are; one above the
    /// new half is gone.
    @ParameterizedTest
    @CsvSource({
        "8000, 1000, 1",
        "11025, 3000, 1",
        "22050, 5000, 1",
        "44100, 1000, 1",
        "44100, 7000, 1",
        "48000, 440, 1",
        "192000, 7000, 1",
        "44100, 9500, 0",
        "48000, 20000, 0"
    })
    void resampledTonesStayTones(int rate, double hertz, double loudness) {
        float[] samples = new float[rate / 2];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (float) Math.sin(2 * Math.PI * hertz * i / rate);
        }
        Sound sound = Sound.of(samples, rate).resampled(16_000);
        assertEquals(8_000, sound.length(), 1);
        assertEquals(16_000, sound.rate());
        float[] result = sound.samples();
        double worst = IntStream.range(200, 7_800)
                .mapToDouble(i -> Math.abs(result[i] - loudness * Math.sin(2 * Math.PI * hertz * i / 16_000)))
                .max()
                .orElseThrow();
        assertTrue(worst < 2e-4, "off by " + worst);
    }

    @Test
    void samplesAreCopiedAndChecked() {
        float[] samples = {0.5f, 0.25f};
        Sound sound = Sound.of(samples, 2);
        samples[0] = 9;
        sound.samples()[1] = 9;
        assertEquals(0.5f, sound.samples()[0]);
        assertEquals(0.25f, sound.samples()[1]);
        assertEquals(1, sound.seconds());
        assertSame(sound, sound.resampled(2));
        assertThrows(IllegalArgumentException.class, () -> Sound.of(samples, 0));
        assertThrows(IllegalArgumentException.class, () -> Sound.of(new float[] {Float.NaN}, 1));
        assertThrows(IllegalArgumentException.class, () -> sound.resampled(0));
        assertThrows(IllegalArgumentException.class, () -> new MelSpectrogram(0));
    }

    private static Sound sound(String name) throws IOException {
        ByteBuffer bytes = read(name + (name.equals("chirp") ? ".s16" : ".f32"));
        float[] samples = new float[bytes.remaining() / (name.equals("chirp") ? 2 : 4)];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = name.equals("chirp") ? bytes.getShort(i * 2) / 32768f : bytes.getFloat(i * 4);
        }
        return Sound.of(samples, 16_000);
    }

    private static ByteBuffer read(String file) throws IOException {
        try (InputStream in = SoundTests.class.getResourceAsStream("/media/" + file)) {
            return ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
