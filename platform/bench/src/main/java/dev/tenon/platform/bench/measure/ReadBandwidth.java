package dev.tenon.platform.bench.measure;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/// Measures how fast the machine's processors read memory: the ceiling of decoding.
///
/// Threads take pieces of 1 MiB of one large buffer until none is left. Within a piece, one long of
/// each cache line of 64 bytes is read, in strands that lie a part of the piece apart, so that the
/// processor has several lines under way. Every line is fetched whole, whatever is taken of it.
/// Processors differ in how many strands are best: four and eight are tried, and the faster counts.
///
/// Owns its buffer until closed. Not safe for several threads.
public final class ReadBandwidth implements AutoCloseable {
    /// Smallest automatic buffer size.
    static final long MIN_BYTES = 512L << 20;
    /// Largest automatic buffer size.
    static final long MAX_BYTES = 2L << 30;
    /// Bytes that a thread takes at once.
    static final int PIECE = 1 << 20;
    /// Pieces that are read before the clock runs, at least: threads start and the JIT compiler
    /// works then.
    static final long WARM_UP = MIN_BYTES / PIECE;
    /// How long a measurement reads at least: what else runs on the machine slows it as it slows
    /// decoding.
    static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    private static final int LINE = 64;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer;

    /// Allocates and fills the buffer.
    ///
    /// @param bytes its size; rounded up to whole pieces
    /// @throws OutOfMemoryError if there is no such memory
    public ReadBandwidth(long bytes) {
        long size = (Math.max(bytes, 1) + PIECE - 1) / PIECE * PIECE;
        try {
            buffer = arena.allocate(size, LINE);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        for (long at = 0; at < size; at += LINE) {
            buffer.set(LONG, at, at);
        }
    }

    /// {@return a size that no cache holds: three times the last-level cache, within [#MIN_BYTES]
    /// and [#MAX_BYTES], and no more than a quarter of the memory that is free}
    public static long automaticBytes() {
        long bytes = Math.clamp(3 * lastLevelCache(), MIN_BYTES, MAX_BYTES);
        long free = HostMemory.availableBytes();
        return free > 0 ? Math.min(bytes, Math.max(PIECE, free / 4)) : bytes;
    }

    /// {@return size of the buffer}
    public long sizeBytes() {
        return buffer.byteSize();
    }

    /// Reads the buffer over and over.
    ///
    /// @param threads how many threads read
    /// @return bytes a second of all passes after the first [#WARM_UP] pieces
    public double measure(int threads) {
        return Math.max(measure(threads, ReadBandwidth::fourStrands), measure(threads, ReadBandwidth::eightStrands));
    }

    private double measure(int threads, ToLongFunction<MemorySegment> read) {
        Passes passes = new Passes(buffer.byteSize() / PIECE);
        AtomicLong wrong = new AtomicLong(-1);
        CountDownLatch ready = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        Thread[] team = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            team[i] = Thread.ofPlatform()
                    .name("tenon-bench-read-" + i)
                    .daemon(true)
                    .start(() -> {
                        ready.countDown();
                        Waiting.await(go);
                        readPieces(passes, read, wrong);
                    });
        }
        Waiting.await(ready);
        go.countDown();
        for (Thread thread : team) {
            Waiting.join(thread);
        }
        if (wrong.get() >= 0) {
            throw new IllegalStateException("read another sum than was written in the piece at byte " + wrong.get());
        }
        return passes.piecesPerSecond() * PIECE;
    }

    /// Hands out the pieces of one pass after another, and measures the time of all but the first
    /// ones.
    private static final class Passes {
        private final long pieces;
        /// The piece that is timed first; it begins a pass.
        private final long first;
        private final AtomicLong next = new AtomicLong();
        private long began;
        private long ended;
        private volatile long end = Long.MAX_VALUE;

        Passes(long pieces) {
            this.pieces = pieces;
            this.first = Math.ceilDiv(WARM_UP, pieces) * pieces;
        }

        /// {@return the next piece; -1 at the end}
        long take() {
            long taken = next.getAndIncrement();
            if (taken >= first && taken % pieces == 0) {
                passBegins(taken);
            }
            return taken < end ? taken % pieces : -1;
        }

        private synchronized void passBegins(long taken) {
            long now = System.nanoTime();
            if (taken == first) {
                began = now;
            } else if (began != 0 && end == Long.MAX_VALUE && now - began >= LEAST_NANOS) {
                ended = now;
                end = taken;
            }
        }

        double piecesPerSecond() {
            return 1e9 * (end - first) / (ended - began);
        }
    }

    private void readPieces(Passes passes, ToLongFunction<MemorySegment> read, AtomicLong wrong) {
        long lines = PIECE / LINE;
        for (long piece = passes.take(); piece >= 0; piece = passes.take()) {
            long at = piece * PIECE;
            if (read.applyAsLong(buffer.asSlice(at, PIECE)) != lines * at + LINE * lines * (lines - 1) / 2) {
                wrong.set(at);
            }
        }
    }

    private static long fourStrands(MemorySegment piece) {
        int quarter = PIECE / 4;
        long a = 0;
        long b = 0;
        long c = 0;
        long d = 0;
        for (int i = 0; i < quarter; i += LINE) {
            a += piece.get(LONG, i);
            b += piece.get(LONG, i + quarter);
            c += piece.get(LONG, i + 2 * quarter);
            d += piece.get(LONG, i + 3 * quarter);
        }
        return a + b + c + d;
    }

    private static long eightStrands(MemorySegment piece) {
        int part = PIECE / 8;
        long a = 0;
        long b = 0;
        long c = 0;
        long d = 0;
        for (int i = 0; i < part; i += LINE) {
            a += piece.get(LONG, i) + piece.get(LONG, i + 4 * part);
            b += piece.get(LONG, i + part) + piece.get(LONG, i + 5 * part);
            c += piece.get(LONG, i + 2 * part) + piece.get(LONG, i + 6 * part);
            d += piece.get(LONG, i + 3 * part) + piece.get(LONG, i + 7 * part);
        }
        return a + b + c + d;
    }

    /// {@return bytes of the largest cache of the first processor; 0 where the system does not
    /// tell}
    static long lastLevelCache() {
        long largest = 0;
        Path caches = Path.of("/sys/devices/system/cpu/cpu0/cache");
        if (!Files.isDirectory(caches)) {
            return 0;
        }
        try (DirectoryStream<Path> indices = Files.newDirectoryStream(caches, "index*")) {
            for (Path index : indices) {
                String size = Files.readString(index.resolve("size")).strip();
                long unit = size.endsWith("K") ? 1024 : size.endsWith("M") ? 1 << 20 : 1;
                largest = Math.max(largest, unit * Long.parseLong(size.replaceAll("[KM]$", "")));
            }
        } catch (IOException | NumberFormatException e) {
            // Some containers hide or garble these files; then the smallest size has to do.
            return largest;
        }
        return largest;
    }

    @Override
    public void close() {
        arena.close();
    }
}
