package dev.tenon.platform.media;

import dev.tenon.api.media.Sound;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The chunks of a WAV.
///
/// @param what what messages call the file
/// @param encoding how samples are written
/// @param channels channels, at least 1
/// @param rate frames of a second, at least 1
/// @param data the samples, frame by frame
record WavFile(String what, Encoding encoding, int channels, int rate, ByteBuffer data) {
    private static final int INTEGERS = 1;
    private static final int FLOATS = 3;
    private static final int EXTENSIBLE = 0xfffe;
    private static final long UNKNOWN_LENGTH = 0xffffffffL;
    private static final String EXPECTED = "a WAV of integers or floats";

    /// How a sample is written: from -1 to 1, but for floats, which may be larger.
    private enum Encoding {
        U8(1),
        S16(2),
        S24(3),
        S32(4),
        F32(4),
        F64(8);

        private final int bytes;

        Encoding(int bytes) {
            this.bytes = bytes;
        }

        double value(ByteBuffer data, int at) {
            return switch (this) {
                case U8 -> ((data.get(at) & 0xff) - 128) / 128.0;
                case S16 -> data.getShort(at) / 32768.0;
                case S24 -> (data.getShort(at) & 0xffff | data.get(at + 2) << 16) / 8388608.0;
                case S32 -> data.getInt(at) / 2147483648.0;
                case F32 -> data.getFloat(at);
                case F64 -> data.getDouble(at);
            };
        }
    }

    /// Reads the chunks of a file up to its samples.
    static WavFile read(FileBytes file) {
        if (!file.startsWith("RIFF")) {
            throw MediaException.unsupported(file.what(), kind(file), EXPECTED);
        }
        file.skip(8);
        String form = file.text(4);
        if (!form.equals("WAVE")) {
            throw MediaException.unsupported(file.what(), "no WAV, but RIFF of " + form, EXPECTED);
        }
        FileBytes format = null;
        while (true) {
            String type = file.text(4);
            long length = file.u32Little();
            if (type.equals("data")) {
                if (format == null) {
                    throw MediaException.damaged(file.what(), "samples before their format");
                }
                // A program that writes into a pipe does not know the length.
                return of(format, file.part(length == UNKNOWN_LENGTH ? file.left() : length));
            }
            FileBytes chunk = file.part(length);
            file.skip(length & 1);
            if (type.equals("fmt ")) {
                format = chunk;
            }
        }
    }

    private static String kind(FileBytes file) {
        if (file.startsWith("fLaC")) {
            return "FLAC";
        }
        if (file.startsWith("OggS")) {
            return "Ogg";
        }
        boolean frame = file.left() > 1 && file.array()[0] == -1 && (file.array()[1] & 0xe0) == 0xe0;
        return file.startsWith("ID3") || frame ? "MP3" : "no sound that is read";
    }

    private static WavFile of(FileBytes format, FileBytes data) {
        int tag = format.u16Little();
        int channels = format.u16Little();
        long rate = format.u32Little();
        format.skip(4);
        int frame = format.u16Little();
        int bits = format.u16Little();
        if (tag == EXTENSIBLE) {
            format.skip(8);
            tag = format.u16Little();
        }
        Encoding encoding = switch (bits) {
            case 8 -> tag == INTEGERS ? Encoding.U8 : null;
            case 16 -> tag == INTEGERS ? Encoding.S16 : null;
            case 24 -> tag == INTEGERS ? Encoding.S24 : null;
            case 32 -> tag == INTEGERS ? Encoding.S32 : tag == FLOATS ? Encoding.F32 : null;
            case 64 -> tag == FLOATS ? Encoding.F64 : null;
            default -> null;
        };
        if (encoding == null) {
            throw MediaException.unsupported(
                    format.what(),
                    "a WAV of encoding " + tag + " and " + bits + " bits",
                    "integers of 8, 16, 24 or 32 bits (1) or floats of 32 or 64 (3)");
        }
        if (channels < 1 || frame != channels * encoding.bytes || rate < 1 || rate > Integer.MAX_VALUE) {
            throw MediaException.damaged(
                    format.what(), channels + " channels in " + frame + " bytes, " + rate + " times a second");
        }
        ByteBuffer samples = ByteBuffer.wrap(data.array(), data.place(), data.left() / frame * frame)
                .slice()
                .order(ByteOrder.LITTLE_ENDIAN);
        return new WavFile(format.what(), encoding, channels, (int) rate, samples);
    }

    private int frames() {
        return data.capacity() / (channels * encoding.bytes);
    }

    double seconds() {
        return (double) frames() / rate;
    }

    /// {@return the average of the channels}
    Sound decode() {
        float[] samples = new float[frames()];
        for (int i = 0; i < samples.length; i++) {
            double sum = 0;
            for (int channel = 0; channel < channels; channel++) {
                sum += encoding.value(data, (i * channels + channel) * encoding.bytes);
            }
            samples[i] = (float) (sum / channels);
            if (!Float.isFinite(samples[i])) {
                throw MediaException.damaged(what, "sample " + i + " is " + samples[i]);
            }
        }
        return Sound.of(samples, rate);
    }
}
