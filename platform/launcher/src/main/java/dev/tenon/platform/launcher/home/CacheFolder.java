package dev.tenon.platform.launcher.home;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_EXECUTE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static java.nio.file.attribute.PosixFilePermission.OWNER_WRITE;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The framework's working folder: a new one for each process. It lies in memory where the start
/// script names such a folder (system property `tenon.work`) and that has room, and otherwise below
/// the folder for temporary files: the framework writes a number with each bundle, which a busy
/// disk makes slow.
///
/// It holds a locked file while the process runs, so that a later process can tell and remove what
/// a killed one left.
///
/// @param path the folder; never null
/// @param lock the open, locked file; never null
public record CacheFolder(Path path, FileChannel lock) implements AutoCloseable {
    private static final String PREFIX = "tenon-cache-";
    private static final String LOCK = "in-use";
    private static final Duration GRACE = Duration.ofMinutes(1);
    /// Free bytes that a folder in memory must have: bundles' jars may be unpacked or copied there.
    private static final long ROOM = 256L << 20;

    /// This process's folder; null until it is made.
    private static volatile Path own;

    public static CacheFolder create() {
        Path parent = parent();
        try {
            // Not Files.createTempDirectory: its random name starts the security providers, some 20
            // ms.
            String name = PREFIX + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime());
            Path path = parent.resolve(name);
            own = path;
            Files.createDirectory(path, attributes()); // not one that is there
            FileChannel lock = FileChannel.open(path.resolve(LOCK), CREATE_NEW, WRITE);
            lock.lock();
            return new CacheFolder(path, lock);
        } catch (IOException e) {
            throw new PlatformException("No temporary folder can be made in " + parent + ": " + e.getMessage()
                    + ". Make it writable, or pass another one with -Djava.io.tmpdir=FOLDER in TENON_JAVA_OPTS.");
        }
    }

    /// Creates a folder, unless it is there, that only this user can enter.
    ///
    /// @throws IOException if that is not possible
    public static void createPrivate(Path folder) throws IOException {
        Files.createDirectories(folder, attributes());
    }

    private static FileAttribute<?>[] attributes() {
        if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
            return new FileAttribute<?>[0];
        }
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(EnumSet.of(OWNER_READ, OWNER_WRITE, OWNER_EXECUTE))
        };
    }

    /// Removes the folder.
    @Override
    public void close() {
        delete(path);
        try {
            lock.close();
        } catch (IOException e) {
            log().debug("The lock of {} was not released", path, e);
        }
    }

    /// Removes this process's folder while another thread may still fill it: at a signal during the boot, that thread
    /// goes on until the JVM ends.
    public static void removeUnfinished() {
        Path path = own;
        for (int i = 0; path != null && i < 20 && Files.exists(path); i++) {
            delete(path);
            LockSupport.parkNanos(5_000_000);
        }
    }

    /// Removes the folders of processes that no longer run. Folders of other users are left alone.
    public static void sweep() {
        sweep(temporary());
        // Even if it has no space now: an earlier process may have used it.
        if (!memory().equals(temporary())) {
            sweep(memory());
        }
    }

    private static void sweep(Path parent) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path entry : entries) {
                // Opening and closing the lock file of this process would release its lock.
                if (!entry.equals(own) && Files.isWritable(entry) && abandoned(entry)) {
                    delete(entry);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            log().debug("What earlier processes left in {} cannot be listed", parent, e);
        }
    }

    private static boolean abandoned(Path folder) {
        Path file = folder.resolve(LOCK);
        try {
            if (Files.getLastModifiedTime(folder)
                    .toInstant()
                    .isAfter(Instant.now().minus(GRACE))) {
                return false;
            }
            if (!Files.exists(file)) {
                return true;
            }
            try (FileChannel channel = FileChannel.open(file, WRITE);
                    FileLock taken = channel.tryLock()) {
                return taken != null;
            }
        } catch (OverlappingFileLockException e) {
            return false; // this process's own
        } catch (IOException e) {
            log().debug("{} is left: whether it is in use cannot be told, or another process removes it", folder, e);
            return false;
        }
    }

    /// Deletes a folder with its content; what cannot be deleted is logged and left.
    public static void delete(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, IOException e) throws IOException {
                    Files.deleteIfExists(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            log().debug("The working folder {} was not removed", folder, e);
        }
    }

    private static Path parent() {
        Path memory = memory();
        File folder = memory.toFile();
        // Not through java.nio.file.FileStore, which reads the list of all mounts.
        return folder.canWrite() && folder.getUsableSpace() >= ROOM ? memory : temporary();
    }

    /// The folder in memory, if one is named and not empty, or else that for temporary files.
    private static Path memory() {
        String named = System.getProperty("tenon.work", "");
        return named.isEmpty() ? temporary() : Path.of(named);
    }

    private static Path temporary() {
        return Path.of(System.getProperty("java.io.tmpdir"));
    }

    private static Logger log() {
        return LoggerFactory.getLogger(CacheFolder.class);
    }
}
