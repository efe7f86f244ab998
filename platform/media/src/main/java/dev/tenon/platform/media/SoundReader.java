package dev.tenon.platform.media;

import dev.tenon.api.media.Sound;
import java.nio.file.Path;

/// Reads files of sounds: WAV of integers of 8, 16, 24 and 32 bits or of float32 and float64. Channels
/// are averaged, other rates [resampled][Sound#resampled]. Safe for any thread.
public final class SoundReader {
    private final SoundBudget budget;
    private final int rate;

    /// Makes a reader.
    ///
    /// @param budget what files may ask for
    /// @param rate samples of a second that sounds get, such as 16000
    public SoundReader(SoundBudget budget, int rate) {
        this.budget = budget;
        this.rate = rate;
    }

    /// Reads a file.
    ///
    /// @param file the file
    /// @return its sound
    /// @throws MediaException if it is not read, and why
    public Sound read(Path file) {
        return read("Sound " + file, bytes(file));
    }

    /// Reads the bytes of a file, whatever they are.
    ///
    /// @param file the file
    /// @return all of it
    /// @throws MediaException if there are too many, or it cannot be read
    public byte[] bytes(Path file) {
        String what = "Sound " + file;
        return MediaFile.read(what, file, bytes -> budget.checkBytes(what, bytes));
    }

    /// Reads the bytes of a file.
    ///
    /// @param name what messages call it
    /// @param file all of it; borrowed
    /// @return its sound
    /// @throws MediaException if it is not read, and why
    public Sound read(byte[] file, String name) {
        return read("Sound " + name, file);
    }

    private Sound read(String what, byte[] file) {
        budget.checkBytes(what, file.length);
        WavFile wav = WavFile.read(new FileBytes(what, file));
        budget.checkSeconds(what, wav.seconds());
        return wav.decode().resampled(rate);
    }
}
