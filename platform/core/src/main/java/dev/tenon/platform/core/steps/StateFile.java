package dev.tenon.platform.core.steps;

import dev.tenon.platform.core.files.OwnerOnly;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies of states in a file, each at a place of its own, with its checksum in memory. The one that was used least
/// recently goes where there is no place.
///
/// The file loses its name as soon as it is open, or where the system cannot do that, is removed when it is closed: so
/// nobody else opens it, and nothing of it is left when the process ends, however it does. A thread of its own writes.
/// What comes while that has [#AHEAD] copies to write is not kept. After the first failure, such as a disk that is full
/// or a copy whose checksum is wrong, nothing is kept here any more.
///
/// Guarded by the loop's lock, but for the writing.
///
/// @param <P> pages
final class StateFile<P> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);
    /// Copies that wait to be written or are being written.
    private static final int AHEAD = 2;

    private static final int CHUNK = 1 << 22;

    private final Path folder;
    private final long pieceBytes;
    private final Arena arena;
    private final ExecutorService writer = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().name("tenon-states").daemon(true).factory());
    /// From the least recently used one.
    private final Map<P, Copy> copies = new LinkedHashMap<>(16, 0.75f, true);
    private final Deque<Copy> writing = new ArrayDeque<>();
    private final Deque<Long> freePlaces = new ArrayDeque<>();
    private final Deque<MemorySegment> freePieces = new ArrayDeque<>();
    private final long places;
    private long usedPlaces;
    /// Opened when it is first needed.
    private volatile FileChannel file;

    private boolean failed;
    /// What reading takes by what it took so far; 0 as long as nothing was read.
    private long readNanos;

    /// A state at a place of the file.
    private static final class Copy {
        final long place;
        /// Gives the checksum.
        Future<Long> written;
        /// What is written; null afterwards.
        MemorySegment piece;

        Copy(long place, MemorySegment piece) {
            this.place = place;
            this.piece = piece;
        }
    }

    /// @param folder where the file is; made if it is not there
    /// @param bytes most bytes of the file, at least those of a copy
    /// @param pieceBytes of a copy
    /// @param arena gives memory for copies on their way; closed after this
    StateFile(Path folder, long bytes, long pieceBytes, Arena arena) {
        this.folder = folder;
        this.pieceBytes = pieceBytes;
        this.arena = arena;
        this.places = bytes / pieceBytes;
        for (int i = 0; i <= AHEAD; i++) { // one more, to read with
            freePieces.add(arena.allocate(pieceBytes));
        }
    }

    /// {@return whether there is a copy of the state at the end of a page}
    boolean has(P page) {
        return copies.containsKey(page);
    }

    /// {@return how many copies there are}
    int count() {
        return copies.size();
    }

    /// {@return how many are still to be written}
    int ahead() {
        settle();
        return writing.size();
    }

    /// Keeps the state at the end of a page, if it can.
    ///
    /// @param piece the state; this object's own from now on
    /// @return memory of the same size in exchange; what it holds is of no use
    MemorySegment put(P page, MemorySegment piece) {
        if (ahead() == AHEAD || failed) {
            return piece;
        }
        if (freePlaces.isEmpty() && usedPlaces < places) {
            freePlaces.add(usedPlaces++);
        } else if (freePlaces.isEmpty()) {
            Iterator<Copy> oldest = copies.values().iterator();
            freePlaces.add(oldest.next().place);
            oldest.remove();
        }
        // A copy that is still to be written to this place is written before.
        Copy copy = new Copy(freePlaces.remove(), piece);
        copy.written = writer.submit(() -> write(copy.place, piece));
        writing.add(copy);
        copies.put(page, copy);
        return freePieces.remove();
    }

    /// {@return whether reading a copy takes no longer than something else}
    ///
    /// @param nanos what that takes
    boolean isWorthReading(long nanos) {
        if (nanos < readNanos) {
            readNanos -= readNanos / 8; // one slow reading shall not be the last
            return false;
        }
        return true;
    }

    /// Takes the state at the end of a page, of which there is a copy, out of the file.
    ///
    /// @return the state; null if it could not be read. The caller [gives][#give] memory in exchange.
    MemorySegment take(P page) {
        settle();
        Copy copy = copies.remove(page);
        if (copy == null) {
            return null;
        }
        freePlaces.add(copy.place);
        MemorySegment piece = freePieces.remove();
        if (copy.piece != null) {
            return piece.copyFrom(copy.piece);
        }
        long begin = System.nanoTime();
        try {
            if (read(copy.place, piece) != copy.written.resultNow()) {
                throw new IOException("a state in it is not the one that was written");
            }
            long nanos = System.nanoTime() - begin;
            readNanos = readNanos == 0 ? nanos : (readNanos + nanos) / 2;
            return piece;
        } catch (IOException e) {
            freePieces.add(piece);
            fail(e);
            return null;
        }
    }

    /// Gives memory for what was taken.
    void give(MemorySegment piece) {
        freePieces.add(piece);
    }

    /// Forgets the copy at the end of a page, if there is one.
    void drop(P page) {
        Copy copy = copies.remove(page);
        if (copy != null) {
            freePlaces.add(copy.place);
        }
    }

    /// Takes the memory back that was written.
    private void settle() {
        while (!writing.isEmpty() && writing.element().written.isDone()) {
            Copy copy = writing.remove();
            freePieces.add(copy.piece);
            copy.piece = null;
            if (copy.written.state() == Future.State.FAILED) {
                fail(copy.written.exceptionNow());
            }
        }
    }

    private void fail(Throwable why) {
        if (!failed) {
            failed = true;
            LOG.warn(
                    "States of prompts are kept on disk no more ({}): {}. Check the folder and its free space, or set"
                            + " prefix.states.disk.mb=0; prompts run again meanwhile",
                    folder,
                    why.toString());
            copies.clear();
            writer.execute(this::closeFile);
        }
    }

    private long write(long place, MemorySegment piece) throws IOException {
        if (file == null) {
            OwnerOnly.folder(folder);
            Path name = folder.resolve("states-" + Long.toHexString(System.nanoTime()) + "-"
                    + ProcessHandle.current().pid() + ".tmp");
            file = FileChannel.open(
                    name,
                    Set.of(
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.DELETE_ON_CLOSE),
                    OwnerOnly.file(name));
        }
        CRC32C sum = new CRC32C();
        for (long at = 0; at < pieceBytes; ) {
            ByteBuffer bytes = chunk(piece, at);
            sum.update(bytes.duplicate());
            for (long to = place * pieceBytes + at; bytes.hasRemaining(); ) {
                to += file.write(bytes, to);
            }
            at += bytes.limit();
        }
        return sum.getValue();
    }

    private long read(long place, MemorySegment piece) throws IOException {
        CRC32C sum = new CRC32C();
        for (long at = 0; at < pieceBytes; ) {
            ByteBuffer bytes = chunk(piece, at);
            for (long from = place * pieceBytes + at; bytes.hasRemaining(); ) {
                int count = file.read(bytes, from);
                if (count < 0) {
                    throw new EOFException("it ends at " + from);
                }
                from += count;
            }
            sum.update(bytes.flip());
            at += bytes.limit();
        }
        return sum.getValue();
    }

    private ByteBuffer chunk(MemorySegment piece, long at) {
        return piece.asSlice(at, Math.min(CHUNK, pieceBytes - at)).asByteBuffer();
    }

    /// Closes the file: it is gone, and its space is free.
    @Override
    public void close() {
        closeFile(); // what is still to be written fails
        writer.close();
        closeFile();
    }

    private void closeFile() {
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException e) {
            LOG.debug("The file in {} was not closed", folder, e);
        }
    }
}
