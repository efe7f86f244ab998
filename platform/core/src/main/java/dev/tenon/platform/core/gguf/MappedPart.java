package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/// One mapped file, and what it was when it was mapped: size, time and identity. Safe for any
/// thread. The arena that it is mapped in belongs to the caller.
final class MappedPart {
    private final Path path;
    /// Without links: one that is pointed elsewhere does not change this file.
    private final Path realPath;

    private final MemorySegment data;
    private final Object identity;
    private final FileTime time;
    /// Guards the mapping, once data was asked for; gives null where there is no guard.
    private volatile CompletableFuture<FaultGuard.Range> guard;
    /// Whether the path leads to another file by now, or to none: then nothing can be said of this one.
    private volatile boolean replaced;
    /// How the file was changed; null if it was not.
    private volatile String change;

    private MappedPart(Path path, Path realPath, MemorySegment data, BasicFileAttributes attributes) {
        this.path = path;
        this.realPath = realPath;
        this.data = data;
        this.identity = attributes.fileKey();
        this.time = attributes.lastModifiedTime();
    }

    static MappedPart map(Path path, Arena arena) {
        if (Files.isDirectory(path)) {
            throw new TenonException(ErrorCode.IO, path + " is a directory. Give the path of a GGUF file in it.");
        }
        if (!Files.exists(path)) {
            throw new TenonException(
                    ErrorCode.IO,
                    path + " does not exist"
                            + (path.isAbsolute() ? "" : " in " + Path.of("").toAbsolutePath()) + ". Check the path.");
        }
        if (!Files.isRegularFile(path)) {
            throw new TenonException(
                    ErrorCode.IO, path + " is a device, pipe or socket, which cannot be mapped. Copy it to a file.");
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            Path real = path.toRealPath();
            // Before the size: what is written after this look changes the time.
            BasicFileAttributes attributes = Files.readAttributes(real, BasicFileAttributes.class);
            return new MappedPart(path, real, channel.map(MapMode.READ_ONLY, 0, channel.size(), arena), attributes);
        } catch (AccessDeniedException e) {
            throw new TenonException(ErrorCode.IO, path + " may not be read. Check its permissions.", e);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, path + " cannot be read or mapped: " + e.getMessage(), e);
        }
    }

    /// {@return the whole file; reading it fails with an [InternalError] where the file was cut short}
    MemorySegment header() {
        return data;
    }

    /// {@return the whole file, guarded where that is possible, at the latest when [#requireUnchanged]
    ///     returns: what cannot be read is zeros, and the next check fails}
    synchronized MemorySegment data() {
        if (guard == null) {
            // The first guard of a process takes some milliseconds, which whoever loads a model has other work for.
            guard = CompletableFuture.supplyAsync(
                    () -> FaultGuard.guard(data),
                    task -> Thread.ofPlatform().name("tenon-guard").daemon(true).start(task));
        }
        return data;
    }

    /// Checks that the file is what it was when it was mapped.
    void requireUnchanged() {
        if (change == null) {
            change = change();
        }
        if (change != null) {
            throw new TenonException(
                    ErrorCode.GGUF_CHANGED,
                    path + " was changed while it was in use: " + change
                            + ". Put the right file in its place and load it again; a server does so when asked again.");
        }
    }

    private String change() {
        FaultGuard.Range range = guard == null ? null : guard.join();
        if (range != null && range.faulted()) {
            return "some of its data is gone or cannot be read";
        }
        if (replaced) {
            return null;
        }
        try {
            BasicFileAttributes now = Files.readAttributes(realPath, BasicFileAttributes.class);
            if (now.size() == data.byteSize() && now.lastModifiedTime().equals(time)) {
                return null;
            }
            if (Objects.equals(now.fileKey(), identity)) {
                return now.size() == data.byteSize()
                        ? "it was written to"
                        : "it has " + now.size() + " bytes, and had " + data.byteSize();
            }
        } catch (IOException e) {
            // Removed, or in a folder that is: the mapping keeps the file's data.
        }
        replaced = true;
        return null;
    }

    /// Ends the guard. Called once, before the arena is closed.
    synchronized void release() {
        FaultGuard.Range range = guard == null ? null : guard.join();
        if (range != null) {
            range.release();
        }
    }
}
