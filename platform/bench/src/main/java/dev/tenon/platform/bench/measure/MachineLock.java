package dev.tenon.platform.bench.measure;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.UserFolders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/// Only one process of a user measures at a time, since two would disturb each other.
///
/// The lock is one of the operating system on a file that names its holder; it ends with the
/// process, however that ends. The file stays.
public final class MachineLock implements AutoCloseable {
    private static final int LONGEST = 200;

    private final FileChannel channel;
    private final FileLock lock;

    private MachineLock(FileChannel channel, FileLock lock) {
        this.channel = channel;
        this.lock = lock;
    }

    /// Takes the lock.
    ///
    /// @param file the lock's file, such as [#file()]
    /// @param what what is done meanwhile, for the message that others get
    /// @param waits whether to wait for another process
    /// @param told hears, before a wait, what is waited for
    /// @return the lock; the caller closes it
    /// @throws TenonException (`STATE-003`) if another process has it and `waits` is not given,
    ///     (`IO-001`) if the file cannot be used
    public static MachineLock take(Path file, String what, boolean waits, Consumer<String> told) {
        FileChannel channel = null;
        boolean taken = false;
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            FileLock lock = tryLock(channel);
            if (lock == null) {
                String holder = holder(channel);
                if (!waits) {
                    throw new TenonException(
                            ErrorCode.BUSY,
                            "Another measurement runs on this machine: " + holder
                                    + ". Two would disturb each other. Wait for it with --wait, or end it.");
                }
                told.accept("Waiting for " + holder + ".");
                lock = channel.lock();
            }
            channel.truncate(0);
            String text = "process " + ProcessHandle.current().pid() + " (" + what + ")";
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
            taken = true;
            return new MachineLock(channel, lock);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, file + " cannot be used as a lock: " + e.getMessage(), e);
        } finally {
            if (!taken) {
                close(channel);
            }
        }
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // this process has it
        }
    }

    /// {@return the file by which processes of this user meet, in the user's folder for caches}
    public static Path file() {
        return UserFolders.cache(System.getenv()).resolve("measuring.lock");
    }

    private static String holder(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(LONGEST);
        channel.read(text, 0);
        return new String(text.array(), 0, text.position(), StandardCharsets.UTF_8)
                .lines()
                .findFirst()
                .orElse("a process that has not said its name");
    }

    private static void close(FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            System.getLogger(MachineLock.class.getName())
                    .log(System.Logger.Level.WARNING, "a lock's file is not closed: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        try {
            channel.truncate(0);
            lock.release();
        } catch (IOException e) {
            System.getLogger(MachineLock.class.getName())
                    .log(System.Logger.Level.WARNING, "a lock is not released: " + e.getMessage());
        }
        close(channel);
    }
}
