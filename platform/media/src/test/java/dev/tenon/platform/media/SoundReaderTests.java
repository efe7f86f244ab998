package dev.tenon.platform.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.media.Sound;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SoundReaderTests {
    private static final int INTEGERS = 1;
    private static final int FLOATS = 3;
    private static final SoundReader READER = new SoundReader(SoundBudget.defaults(), 16_000);

    /// A tone of 440 Hz in the first channel and silence in the others comes out as a part of it.
    @ParameterizedTest
    @CsvSource({
        "1, 8, 1, 16000",
        "1, 16, 1, 16000",
        "1, 16, 2, 44100",
        "1, 24, 1, 48000",
        "1, 24, 6, 8000",
        "1, 32, 2, 22050",
        "3, 32, 1, 16000",
        "3, 32, 3, 96000",
        "3, 64, 1, 11025"
    })
    void tonesOfEachEncodingAreRead(int tag, int bits, int channels, int rate) {
        Sound sound = READER.read(wav(tag, bits, channels, rate, tone(tag, bits, channels, rate)), "a tone");
        assertEquals(16_000, sound.rate());
        assertEquals(rate / 4 * 16_000.0 / rate, sound.length(), 1);
        float[] samples = sound.samples();
        for (int i = 400; i < samples.length - 400; i++) {
            double expected = 0.5 / channels * Math.sin(2 * Math.PI * 440 * i / 16_000);
            assertEquals(expected, samples[i], bits == 8 ? 0.005 : 2e-4, "sample " + i);
        }
    }

    @Test
    void aFileOfUnknownLengthIsReadToItsEnd() {
        byte[] file = wav(INTEGERS, 16, 1, 16_000, tone(INTEGERS, 16, 1, 16_000));
        Arrays.fill(file, 40, 44, (byte) -1);
        assertEquals(4_000, READER.read(file, "a pipe").length());
    }

    @Test
    void extensibleFormatsNameTheirEncodingLater() {
        byte[] plain = wav(FLOATS, 32, 1, 16_000, tone(FLOATS, 32, 1, 16_000));
        ByteBuffer file = ByteBuffer.allocate(plain.length + 24).order(ByteOrder.LITTLE_ENDIAN);
        file.put(plain, 0, 36)
                .putShort((short) 22)
                .putShort((short) 32)
                .putInt(0)
                .putShort((short) FLOATS);
        file.put(60, plain, 36, plain.length - 36);
        file.putInt(16, 40).putShort(20, (short) 0xfffe);
        assertEquals(
                READER.read(plain, "plain").length(),
                READER.read(file.array(), "extensible").length());
    }

    @Test
    void whatIsNotReadIsNamed() {
        assertRefused(MediaException.UNSUPPORTED, "FLAC", "fLaC...".getBytes(StandardCharsets.UTF_8));
        assertRefused(MediaException.UNSUPPORTED, "MP3", "ID3.....".getBytes(StandardCharsets.UTF_8));
        assertRefused(MediaException.UNSUPPORTED, "MP3", new byte[] {-1, -5, 0x10, 0});
        assertRefused(MediaException.UNSUPPORTED, "Ogg", "OggS....".getBytes(StandardCharsets.UTF_8));
        assertRefused(MediaException.UNSUPPORTED, "RIFF of WEBP", "RIFF....WEBP".getBytes(StandardCharsets.UTF_8));
        assertRefused(MediaException.UNSUPPORTED, "encoding 2 and 4 bits", wav(2, 4, 1, 8_000, new byte[8]));
        assertRefused(MediaException.UNSUPPORTED, "encoding 1 and 20 bits", wav(INTEGERS, 20, 1, 8_000, new byte[8]));
        assertRefused(MediaException.DAMAGED, "0 times a second", wav(INTEGERS, 16, 1, 0, new byte[8]));
        assertRefused(MediaException.DAMAGED, "0 channels", wav(INTEGERS, 16, 0, 8_000, new byte[8]));
        byte[] notANumber = {0, 0, (byte) 0xc0, 0x7f};
        assertRefused(MediaException.DAMAGED, "sample 0 is NaN", wav(FLOATS, 32, 1, 8_000, notANumber));
        byte[] whole = wav(INTEGERS, 16, 1, 8_000, new byte[8]);
        assertRefused(MediaException.DAMAGED, "2 bytes are missing", Arrays.copyOf(whole, whole.length - 2));
        assertRefused(MediaException.DAMAGED, "bytes are missing", Arrays.copyOf(whole, 30));
    }

    @Test
    void whatExceedsTheBudgetIsRefused() {
        assertRefused(
                MediaException.BUDGET,
                "2000.0 seconds; expected at most 600.0",
                wav(INTEGERS, 8, 1, 1, new byte[2000]));
        SoundReader small = new SoundReader(new SoundBudget(100, 1), 16_000);
        byte[] file = wav(INTEGERS, 8, 1, 8_000, new byte[100]);
        assertEquals(
                MediaException.BUDGET,
                assertThrows(MediaException.class, () -> small.read(file, "long"))
                        .code());
    }

    private static void assertRefused(String code, String text, byte[] file) {
        MediaException refused = assertThrows(MediaException.class, () -> READER.read(file, "a file"));
        assertEquals(code, refused.code(), refused.getMessage());
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }

    /// A quarter of a second.
    static byte[] tone(int tag, int bits, int channels, int rate) {
        int frames = rate / 4;
        ByteBuffer data = ByteBuffer.allocate(frames * channels * bits / 8).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < frames; i++) {
            for (int channel = 0; channel < channels; channel++) {
                double value = channel > 0 ? 0 : 0.5 * Math.sin(2 * Math.PI * 440 * i / rate);
                switch (bits) {
                    case 8 -> data.put((byte) Math.round(value * 128 + 128));
                    case 16 -> data.putShort((short) Math.round(value * 32768));
                    case 24 -> {
                        int sample = (int) Math.round(value * 8388608);
                        data.putShort((short) sample).put((byte) (sample >> 16));
                    }
                    case 32 ->
                        data.putInt(
                                tag == FLOATS
                                        ? Float.floatToRawIntBits((float) value)
                                        : (int) Math.round(value * 2147483648.0));
                    default -> data.putDouble(value);
                }
            }
        }
        return data.array();
    }

    static byte[] wav(int tag, int bits, int channels, int rate, byte[] data) {
        ByteBuffer file = ByteBuffer.allocate(44 + data.length).order(ByteOrder.LITTLE_ENDIAN);
        file.put("RIFF".getBytes(StandardCharsets.UTF_8)).putInt(36 + data.length);
        file.put("WAVEfmt ".getBytes(StandardCharsets.UTF_8)).putInt(16);
        file.putShort((short) tag).putShort((short) channels).putInt(rate).putInt(rate * channels * bits / 8);
        file.putShort((short) (channels * bits / 8)).putShort((short) bits);
        file.put("data".getBytes(StandardCharsets.UTF_8)).putInt(data.length).put(data);
        return file.array();
    }
}
