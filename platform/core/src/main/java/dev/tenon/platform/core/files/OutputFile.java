package dev.tenon.platform.core.files;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;

/// A file that a command writes: it gets its name when it is complete and on the disk, or never.
///
/// Bytes go to `NAME.PID-NUMBER.tmp` beside the target, which is removed when the file is closed before it is
/// complete, and when the process is told to end; what a killed process left is removed when the same target is
/// written again. Only regular files are replaced: a directory, a symbolic link, a device, a pipe and a file that the
/// command reads are refused. For one thread; [#channel()] for several.
public final class OutputFile implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(OutputFile.class.getName());

    private final Path target;
    private final boolean replace;
    private final Path temporary;
    private final FileChannel channel;
    private final OutputStream bytes;
    private final Thread hook = new Thread(this::discard, "tenon-unfinished-file");
    private boolean over;

    private OutputFile(Path target, boolean replace, boolean through) throws IOException {
        this.target = target;
        this.replace = replace;
        if (through) {
            temporary = null;
            channel = FileChannel.open(target, StandardOpenOption.WRITE);
        } else {
            Leftovers.sweep(target);
            temporary = Leftovers.temporary(target);
            Leftovers.atEnd(hook);
            channel = create();
        }
        bytes = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
    }

    private synchronized FileChannel create() throws IOException {
        if (over) {
            throw new IOException("the process is ending");
        }
        boolean done = false;
        try {
            FileChannel created = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            keepPermissions();
            done = true;
            return created;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /// Starts a file.
    ///
    /// @param target the file; its folder must exist
    /// @param replace whether a regular file is replaced that is there
    /// @param inputs files that the command reads
    /// @return the file; the caller completes and closes it
    /// @throws TenonException (`IO-001`) as [#check], or if it cannot be created
    public static OutputFile open(Path target, boolean replace, Path... inputs) {
        check(target, replace, inputs);
        return start(target, replace, false);
    }

    /// Starts a file that is written from its beginning to its end: a device or pipe is written through, also where
    /// a symbolic link leads to it.
    ///
    /// @param target the file; its folder must exist
    /// @param replace whether a regular file is replaced that is there
    /// @param inputs files that the command reads
    /// @return the file; the caller completes and closes it
    /// @throws TenonException (`IO-001`) as [#checkStream], or if it cannot be created
    public static OutputFile openStream(Path target, boolean replace, Path... inputs) {
        checkStream(target, replace, inputs);
        return start(target, replace, isStream(target));
    }

    /// Writes a text, as UTF-8, see [#openStream].
    ///
    /// @param target the file; its folder must exist
    /// @param replace whether a regular file is replaced that is there
    /// @param text its content
    /// @param inputs files that the command reads
    /// @throws TenonException (`IO-001`) as [#checkStream], or if it cannot be written
    public static void write(Path target, boolean replace, CharSequence text, Path... inputs) {
        try (OutputFile file = openStream(target, replace, inputs)) {
            file.bytes().write(text.toString().getBytes(StandardCharsets.UTF_8));
            file.complete();
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    private static OutputFile start(Path target, boolean replace, boolean through) {
        try {
            return new OutputFile(target, replace, through);
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    /// Checks whether a file may be written, before long work begins.
    ///
    /// @param target the file
    /// @param replace whether a regular file is replaced that is there
    /// @param inputs files that the command reads
    /// @throws TenonException (`IO-001`) if the target is there and may not be replaced, or is one of the inputs
    ///     (also by another name), a directory, a symbolic link, a device or a pipe
    public static void check(Path target, boolean replace, Path... inputs) {
        check(target, replace, false, inputs);
    }

    /// Checks as [#check], but lets devices and pipes pass.
    ///
    /// @param target the file
    /// @param replace whether a regular file is replaced that is there
    /// @param inputs files that the command reads
    /// @throws TenonException (`IO-001`) if the target may not be written
    public static void checkStream(Path target, boolean replace, Path... inputs) {
        check(target, replace, isStream(target), inputs);
    }

    private static void check(Path target, boolean replace, boolean through, Path... inputs) {
        if (target.getFileName() == null || Files.isDirectory(target)) {
            throw refused(target, "is a directory. Give the path of a file in it.");
        }
        if (through || !Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        for (Path input : inputs) {
            if (isSame(target, input)) {
                throw refused(target, "is the file that is read, " + input + ". Give another name.");
            }
        }
        if (Files.isSymbolicLink(target)) {
            throw refused(target, "is a symbolic link, which is not followed. Give the path that it leads to.");
        }
        if (!Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            throw refused(target, "is a device, pipe or socket, which is not replaced. Give the path of a file.");
        }
        if (!replace) {
            throw refused(target, "exists already. Replace it with -y, or give another name.");
        }
    }

    private static boolean isSame(Path a, Path b) {
        try {
            return Files.exists(a) && Files.exists(b) && Files.isSameFile(a, b);
        } catch (IOException e) {
            throw failed(a, e);
        }
    }

    /// Whether there is something that takes bytes and is no file: a device, a pipe, or a link to one.
    private static boolean isStream(Path target) {
        return Files.exists(target) && !Files.isDirectory(target) && !Files.isRegularFile(target);
    }

    /// {@return where bytes go, at any position; for several threads}
    public FileChannel channel() {
        return channel;
    }

    /// {@return where bytes go, one after the other; buffered, and written by [#complete()]}
    public OutputStream bytes() {
        return bytes;
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// @throws TenonException (`IO-001`) if it cannot be written, or another file got its name meanwhile; then
    ///     nothing is left behind
    public synchronized void complete() {
        try {
            bytes.flush();
            if (over) {
                throw new IOException("the process is ending");
            }
            if (temporary != null) {
                channel.force(true);
                channel.close();
                check(target, replace);
                move(temporary, target);
            }
            end();
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    /// Gives a complete file another name, in a way that a power failure leaves one or the other.
    ///
    /// @param file a file on the same file system
    /// @param target its new name; a file of that name is replaced
    /// @throws IOException if it cannot be moved
    public static void move(Path file, Path target) throws IOException {
        try {
            Files.move(file, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
        try (FileChannel folder = FileChannel.open(target.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        } catch (IOException e) {
            // The file is whole; some systems cannot open or sync a folder.
            LOG.log(System.Logger.Level.DEBUG, "The folder of " + target + " was not synced", e);
        }
    }

    /// Ends the work; without [#complete()] nothing is left behind.
    @Override
    public void close() {
        discard();
        end();
    }

    private synchronized void discard() {
        if (over || temporary == null) {
            return;
        }
        over = true;
        Leftovers.delete(temporary);
    }

    private synchronized void end() {
        over = true;
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, target + " was not closed", e);
        }
        Leftovers.notAtEnd(hook);
    }

    private void keepPermissions() throws IOException {
        PosixFileAttributeView old = Files.getFileAttributeView(target, PosixFileAttributeView.class);
        if (old != null && Files.exists(target)) {
            Files.setPosixFilePermissions(temporary, old.readAttributes().permissions());
        }
    }

    /// {@return the error of a file that cannot be written}
    ///
    /// @param target the file
    /// @param e what happened
    public static TenonException failed(Path target, IOException e) {
        String reason = switch (e) {
            case NoSuchFileException _ -> "its folder does not exist";
            case AccessDeniedException _ -> "permission is denied";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
        return new TenonException(
                ErrorCode.IO,
                target + " cannot be written: " + reason + ". Check the folder, its permissions and free space.",
                e);
    }

    private static TenonException refused(Path target, String text) {
        return new TenonException(ErrorCode.IO, target + " " + text);
    }
}
