package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.core.gguf.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/// Writes a GGUF file of any size with little heap: the header first, then tensor data piece by piece.
///
/// The target gets its name when it is complete, and a failure leaves nothing behind, see [OutputFile]. A writer is set
/// up by one thread and used once.
public final class GgufWriter {
    /// Makes the data of a tensor.
    @FunctionalInterface
    public interface TensorWriter {
        /// Fills whole rows; called from several threads at once, for different rows, in no fixed order.
        ///
        /// @param target room for exactly these rows, zeroed or holding older data; borrowed, not kept
        /// @param firstRow index of the first row
        /// @param rows number of rows, at least 1
        void write(MemorySegment target, long firstRow, long rows);
    }

    private record Tensor(String name, TensorType type, List<Long> shape, long rowBytes, long rows, TensorWriter data) {
        long bytes() {
            return Math.multiplyExact(rowBytes, rows);
        }
    }

    private record Piece(Tensor tensor, long position, long firstRow, long rows) {}

    static final String ALIGNMENT_KEY = "general.alignment";

    private static final int DEFAULT_ALIGNMENT = 32;
    /// `GGUF` as a little-endian number.
    private static final int MAGIC = 0x46554747;
    /// Data is made and written in pieces of about this size.
    private static final int PIECE_BYTES = 4 << 20;
    /// Longest row; a row is never cut.
    private static final int MAX_ROW_BYTES = 1 << 30;

    private final Path target;
    private final Map<String, GgufValue> metadata = new LinkedHashMap<>();
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private int version = 3;
    private boolean replace;
    private List<Path> inputs = List.of();
    private int threads = 1;
    private ProgressListener progress = ProgressListener.NONE;

    private GgufWriter(Path target) {
        this.target = target;
    }

    /// {@return a writer that knows nothing yet but where the file goes}
    ///
    /// @param target the file; its folder must exist
    public static GgufWriter to(Path target) {
        return new GgufWriter(target);
    }

    /// Sets the GGUF version, 3 unless said otherwise.
    ///
    /// @param number 2 or 3
    /// @return this
    public GgufWriter version(int number) {
        if (number != 2 && number != 3) {
            throw argument("GGUF version " + number + " cannot be written; expected 2 or 3.");
        }
        version = number;
        return this;
    }

    /// Sets whether an existing target is replaced; if not (the default) it is an error.
    ///
    /// @param allowed whether it may be replaced
    /// @return this
    public GgufWriter replaceExisting(boolean allowed) {
        replace = allowed;
        return this;
    }

    /// Sets how many threads make and write tensor data, 1 unless said otherwise.
    ///
    /// @param count at least 1
    /// @return this
    public GgufWriter threads(int count) {
        if (count < 1) {
            throw argument(count + " threads cannot write a file; expected at least 1.");
        }
        threads = count;
        return this;
    }

    /// Sets who hears of progress.
    ///
    /// @param listener the listener
    /// @return this
    public GgufWriter progress(ProgressListener listener) {
        progress = listener;
        return this;
    }

    /// Adds a metadata key, at the end; a key that is there already gets the new value and keeps its place.
    ///
    /// @param key metadata key; `general.alignment` also sets the alignment of the data
    /// @param value its value; elements of nested arrays are [GgufValue]s of type array
    /// @return this
    public GgufWriter put(String key, GgufValue value) {
        if (key.isEmpty() || key.indexOf(0) >= 0) {
            throw argument("\"" + key + "\" cannot be a metadata key: it is empty or holds a NUL.");
        }
        metadata.put(key, value);
        return this;
    }

    /// Adds metadata keys in their order, see [#put(String, GgufValue)].
    ///
    /// @param values keys and values
    /// @return this
    public GgufWriter putAll(Map<String, GgufValue> values) {
        values.forEach(this::put);
        return this;
    }

    /// Adds a tensor; its data comes later, from [#write()].
    ///
    /// @param name tensor name, not used before
    /// @param type tensor type
    /// @param shape one to four lengths, each at least 1, the fastest first; the first is a multiple of
    ///     the block size
    /// @param data makes the data
    /// @return this
    public GgufWriter tensor(String name, TensorType type, List<Long> shape, TensorWriter data) {
        if (name.isEmpty() || name.indexOf(0) >= 0) {
            throw argument("\"" + name + "\" cannot be a tensor name: it is empty or holds a NUL.");
        }
        if (shape.isEmpty() || shape.size() > 4 || shape.stream().anyMatch(length -> length < 1)) {
            throw argument("Tensor " + name + " has shape " + shape + "; expected one to four lengths of at least 1.");
        }
        if (shape.getFirst() % type.blockSize() != 0) {
            throw argument("Tensor " + name + " has rows of " + shape.getFirst() + " elements, which are not whole "
                    + type.name() + " blocks of " + type.blockSize() + ".");
        }
        long rowBytes = type.bytesFor(shape.getFirst());
        if (rowBytes > MAX_ROW_BYTES) {
            throw argument(
                    "Tensor " + name + " has rows of " + rowBytes + " bytes; the limit is " + MAX_ROW_BYTES + ".");
        }
        long rows = shape.stream().skip(1).reduce(1L, Math::multiplyExact);
        Tensor tensor = new Tensor(name, type, List.copyOf(shape), rowBytes, rows, data);
        if (tensors.putIfAbsent(name, tensor) != null) {
            throw argument("Tensor " + name + " was added twice.");
        }
        return this;
    }

    /// Names files that are read while this one is written, so that none of them is replaced.
    ///
    /// @param files the files
    /// @return this
    public GgufWriter reading(Collection<Path> files) {
        inputs = List.copyOf(files);
        return this;
    }

    /// Writes the file.
    ///
    /// @return its size in bytes
    /// @throws TenonException (`IO-001`) if the target may not be written, see [OutputFile#open], or cannot be;
    ///     or what a [TensorWriter] threw. Then nothing is left behind
    public long write() {
        int alignment = alignment();
        try (OutputFile file = OutputFile.open(target, replace, inputs.toArray(Path[]::new))) {
            long size = write(file.channel(), alignment);
            file.complete();
            return size;
        } catch (IOException e) {
            throw OutputFile.failed(target, e);
        }
    }

    private int alignment() {
        GgufValue value = metadata.get(ALIGNMENT_KEY);
        if (value == null) {
            return DEFAULT_ALIGNMENT;
        }
        if (value.type() != GgufType.UINT32
                || Long.bitCount((Long) value.value()) != 1
                || (Long) value.value() > 1 << 30) {
            throw argument(ALIGNMENT_KEY + " is " + value.value() + " of type " + value.type()
                    + "; expected a power of two up to 2^30 of type UINT32.");
        }
        return ((Long) value.value()).intValue();
    }

    private long write(FileChannel channel, int alignment) throws IOException {
        GgufEncoder header = new GgufEncoder();
        header.putInt(MAGIC);
        header.putInt(version);
        header.putLong(tensors.size());
        header.putLong(metadata.size());
        metadata.forEach(header::putKey);
        long offset = 0;
        for (Tensor tensor : tensors.values()) {
            header.putString(tensor.name());
            header.putInt(tensor.shape().size());
            tensor.shape().forEach(header::putLong);
            header.putInt(tensor.type().number());
            header.putLong(offset);
            offset = Math.addExact(offset, align(tensor.bytes(), alignment));
        }
        long dataStart = tensors.isEmpty() ? header.size() : align(header.size(), alignment);
        long end = Math.addExact(dataStart, offset);
        ByteBuffer bytes = header.toBuffer();
        long position = 0;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
        if (end > position) {
            channel.write(ByteBuffer.allocate(1), end - 1);
        }
        writeData(channel, pieces(dataStart, alignment));
        return end;
    }

    private List<Piece> pieces(long dataStart, int alignment) {
        List<Piece> pieces = new ArrayList<>();
        long start = dataStart;
        for (Tensor tensor : tensors.values()) {
            long step = Math.max(1, PIECE_BYTES / tensor.rowBytes());
            for (long row = 0; row < tensor.rows(); row += step) {
                long rows = Math.min(step, tensor.rows() - row);
                pieces.add(new Piece(tensor, start + row * tensor.rowBytes(), row, rows));
            }
            start += align(tensor.bytes(), alignment);
        }
        return pieces;
    }

    private void writeData(FileChannel channel, List<Piece> pieces) throws IOException {
        long total = tensors.values().stream().mapToLong(Tensor::bytes).sum();
        AtomicLong next = new AtomicLong();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        long[] done = new long[1];
        Runnable work = () -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment room = MemorySegment.NULL;
                while (failure.get() == null) {
                    long index = next.getAndIncrement();
                    if (index >= pieces.size()) {
                        return;
                    }
                    Piece piece = pieces.get((int) index);
                    long bytes = piece.rows() * piece.tensor().rowBytes();
                    if (room.byteSize() < bytes) {
                        room = arena.allocate(Math.max(bytes, PIECE_BYTES), 64);
                    }
                    MemorySegment rows = room.asSlice(0, bytes);
                    piece.tensor().data().write(rows, piece.firstRow(), piece.rows());
                    ByteBuffer buffer = rows.asByteBuffer();
                    long position = piece.position();
                    while (buffer.hasRemaining()) {
                        position += channel.write(buffer, position);
                    }
                    synchronized (done) {
                        done[0] += bytes;
                        progress.progress(done[0], total);
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        };
        List<Thread> helpers = new ArrayList<>();
        for (int i = 1; i < Math.min(threads, pieces.size()); i++) {
            helpers.add(Thread.ofPlatform().name("gguf-writer-" + i).daemon().start(work));
        }
        work.run();
        for (Thread helper : helpers) {
            join(helper, failure);
        }
        switch (failure.get()) {
            case null -> {}
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new TenonException(ErrorCode.IO, target + " was not written: " + e, e);
        }
    }

    private void join(Thread helper, AtomicReference<Throwable> failure) {
        boolean interrupted = false;
        while (true) {
            try {
                helper.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
                failure.compareAndSet(
                        null, new TenonException(ErrorCode.IO, target + " was not written: interrupted.", e));
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static long align(long size, int alignment) {
        return Math.multiplyExact(Math.ceilDiv(size, (long) alignment), (long) alignment);
    }

    private static TenonException argument(String text) {
        return new TenonException(ErrorCode.ARGUMENT, text);
    }
}
