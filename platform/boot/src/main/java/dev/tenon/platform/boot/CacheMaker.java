package dev.tenon.platform.boot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// The process that makes the start-up cache, as a file beside the cache names it: number and start of the process.
/// It stays when the process was killed, so the start tells another process of that number apart.
public final class CacheMaker {
    private static final String FILE = "maker";
    /// How exactly two processes agree on when a third one started.
    private static final Duration ROUNDING = Duration.ofSeconds(10);

    private CacheMaker() {}

    /// Names a process.
    ///
    /// @param folder of the cache
    /// @param maker the process
    /// @throws IOException if it cannot be written
    public static void announce(Path folder, ProcessHandle maker) throws IOException {
        Files.writeString(folder.resolve(FILE), maker.pid() + " " + start(maker) + "\n");
    }

    /// {@return the process that makes the cache now}
    ///
    /// @param folder of the cache
    /// @throws IOException if the file is there and cannot be read
    public static Optional<ProcessHandle> running(Path folder) throws IOException {
        String[] words;
        try {
            words = Files.readString(folder.resolve(FILE)).strip().split(" ");
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        if (words.length != 2 || !words[0].matches("[0-9]{1,18}") || !words[1].matches("[0-9]{1,18}")) {
            return Optional.empty(); // half written by a process that was killed
        }
        Instant start = Instant.ofEpochMilli(Long.parseLong(words[1]));
        return ProcessHandle.of(Long.parseLong(words[0]))
                .filter(ProcessHandle::isAlive)
                .filter(each -> Duration.between(start, Instant.ofEpochMilli(start(each)))
                                .abs()
                                .compareTo(ROUNDING)
                        < 0);
    }

    private static long start(ProcessHandle process) {
        return process.info().startInstant().orElse(Instant.EPOCH).toEpochMilli();
    }
}
