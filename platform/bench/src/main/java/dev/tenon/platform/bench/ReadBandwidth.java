package dev.tenon.platform.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/// Measures how fast the machine's processors read memory: the ceiling of decoding.
///
/// Threads take pieces of 1 MiB of one large buffer until none is left. Within a piece, one long of each
/// cache line of 64 bytes is read, in four strands that lie a quarter of the piece apart, so that the
/// processor has several lines under way. Every line is fetched whole, whatever is taken of it.
///
/// Owns its buffer until closed. Not safe for several threads.
final class ReadBandwidth implements AutoCloseable {
    /// Smallest buffer that is chosen by itself.
    static final long MIN_BYTES = 512L << 20;
    /// Largest buffer that is chosen by itself.
    static final long MAX_BYTES = 2L << 30;
    /// Bytes that a thread takes at once.
    static final int PIECE = 1 << 20;
    /// Times that the buffer is read in one measurement.
    static final int PASSES = 3;

    private static final int LINE = 64;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer;
    private final long expected;

    /// Allocates and fills the buffer.
    ///
    /// @param bytes its size; rounded up to whole pieces
    /// @throws OutOfMemoryError if there is no such memory
    ReadBandwidth(long bytes) {
        long size = (Math.max(bytes, 1) + PIECE - 1) / PIECE * PIECE;
        try {
            buffer = arena.allocate(size, LINE);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        long sum = 0;
        for (long at = 0; at < size; at += LINE) {
            buffer.set(LONG, at, at);
            sum += at;
        }
        expected = sum;
    }

    /// {@return a size that no cache holds: three times the last-level cache, within [#MIN_BYTES] and
    /// [#MAX_BYTES], and no more than a quarter of the memory that is free}
    static long automaticBytes() {
        long bytes = Math.clamp(3 * lastLevelCache(), MIN_BYTES, MAX_BYTES);
        long free = availableMemory();
        return free > 0 ? Math.min(bytes, Math.max(PIECE, free / 4)) : bytes;
    }

    /// {@return size of the buffer}
    long sizeBytes() {
        return buffer.byteSize();
    }

    /// Reads the buffer several times.
    ///
    /// @param threads how many threads read
    /// @return bytes a second of the fastest pass
    double measure(int threads) {
        double best = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            best = Math.max(best, pass(threads));
        }
        return best;
    }

    private double pass(int threads) {
        AtomicLong next = new AtomicLong();
        LongAdder sums = new LongAdder();
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
                        sums.add(readPieces(next));
                    });
        }
        Waiting.await(ready);
        long start = System.nanoTime();
        go.countDown();
        for (Thread thread : team) {
            Waiting.join(thread);
        }
        long nanos = Math.max(1, System.nanoTime() - start);
        if (sums.sum() != expected) {
            throw new IllegalStateException("read a sum of " + sums.sum() + "; expected " + expected);
        }
        return 1e9 * buffer.byteSize() / nanos;
    }

    private long readPieces(AtomicLong next) {
        long sum = 0;
        for (long at = next.getAndAdd(PIECE); at < buffer.byteSize(); at = next.getAndAdd(PIECE)) {
            sum += readPiece(buffer.asSlice(at, PIECE));
        }
        return sum;
    }

    private static long readPiece(MemorySegment piece) {
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

    /// {@return bytes of the largest cache of the first processor; 0 where the system does not tell}
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

    private static long availableMemory() {
        Path info = Path.of("/proc/meminfo");
        if (!Files.isReadable(info)) {
            return 0;
        }
        try {
            List<String> lines = Files.readAllLines(info);
            for (String line : lines) {
                if (line.startsWith("MemAvailable:")) {
                    return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
                }
            }
        } catch (IOException | NumberFormatException e) {
            // As good as a system without this file.
            return 0;
        }
        return 0;
    }

    @Override
    public void close() {
        arena.close();
    }
}
