package dev.tenon.platform.hub;

import dev.tenon.platform.core.files.Leftovers;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/// The right to download to one destination: a lock on `NAME.lock` beside it, which the system releases when the
/// process dies. At the end the file is removed, and of the folders that were made for it those that are empty.
final class TargetLock implements AutoCloseable {
    private static final int POLL_MILLIS = 100;
    /// Those of this process. A lock belongs to a process, and ends with any channel of its file that is closed there;
    /// so a second thread must not open it.
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;
    /// The folders that were made, the innermost first.
    private final List<Path> made;
    private final Thread hook = new Thread(this::remove, "tenon-lock");
    private boolean removed;

    private TargetLock(Path file, FileChannel channel, List<Path> made) {
        this.file = file;
        this.channel = channel;
        this.made = made;
    }

    /// Takes the lock, and makes the destination's folder; waits while another process or thread has it.
    ///
    /// @param target the destination
    /// @param waiting told once, before a wait
    /// @throws IOException if there can be no lock here, or the wait is interrupted
    static TargetLock take(Path target, Runnable waiting) throws IOException {
        Path file = target.toAbsolutePath().normalize().resolveSibling(target.getFileName() + ".lock");
        boolean told = false;
        while (true) {
            if (HELD.add(file)) {
                TargetLock lock = null;
                try {
                    lock = attempt(file);
                } finally {
                    if (lock == null) {
                        HELD.remove(file);
                    }
                }
                if (lock != null) {
                    return lock;
                }
            }
            if (!told) {
                waiting.run();
                told = true;
            }
            try {
                // Not FileChannel.lock(): it fails with EDEADLK where two processes wait for each other's threads.
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while another download of " + target + " ran");
            }
        }
    }

    private static TargetLock attempt(Path file) throws IOException {
        List<Path> made = Stream.iterate(file.getParent(), Path::getParent)
                .takeWhile(Files::notExists)
                .toList();
        Files.createDirectories(file.getParent());
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (NoSuchFileException e) {
            return null; // the last owner has just removed the folder
        }
        boolean done = false;
        try {
            if (channel.tryLock() != null && isStill(file, channel)) {
                TargetLock lock = new TargetLock(file, channel, made);
                Leftovers.atEnd(lock.hook);
                done = true;
                return lock;
            }
            return null;
        } catch (IOException e) {
            // On a full disk, nothing is left: not even the name, if it leads to the file whose content went.
            if (Files.exists(file) && Files.size(file) == channel.size()) {
                Leftovers.delete(file);
            }
            throw OutputFile.failed(file, e);
        } finally {
            if (!done) {
                channel.close();
                removeEmpty(made);
            }
        }
    }

    private static void removeEmpty(List<Path> folders) throws IOException {
        for (Path folder : folders) {
            try {
                Files.delete(folder);
            } catch (DirectoryNotEmptyException | NoSuchFileException e) {
                return; // something came into it, or another owner has removed it
            }
        }
    }

    /// Whether the name still leads to the file that was locked: its last owner may have removed it meanwhile. Only the
    /// locked file has the length that it gets here.
    private static boolean isStill(Path file, FileChannel channel) throws IOException {
        long length = ThreadLocalRandom.current().nextLong(1, 1 << 20);
        channel.truncate(0);
        channel.write(ByteBuffer.allocate(1), length - 1);
        try {
            return Files.size(file) == length;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /// Once: afterwards the name may belong to another process.
    private synchronized void remove() {
        if (!removed) {
            removed = true;
            Leftovers.delete(file);
        }
    }

    @Override
    public void close() throws IOException {
        remove();
        channel.close();
        Leftovers.notAtEnd(hook);
        HELD.remove(file);
        removeEmpty(made);
    }
}
