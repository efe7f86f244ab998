package dev.tenon.platform.bench.measure;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;

/// Measures how fast the machine's processors copy memory.
///
/// Each thread copies a part of its own of one buffer to another, over and over. Bytes are counted
/// as `cp` counts them: once, though each is read and written.
///
/// Owns its buffers until closed. Not safe for several threads.
public final class CopyBandwidth implements AutoCloseable {
    private static final long WARM_UP_BYTES = 256L << 20;
    private static final int PAGE = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment from;
    private final MemorySegment to;

    /// Allocates and touches the buffers.
    ///
    /// @param bytes size of what is copied
    /// @throws OutOfMemoryError if there is no memory for two such buffers
    public CopyBandwidth(long bytes) {
        try {
            from = arena.allocate(bytes, PAGE);
            to = arena.allocate(bytes, PAGE);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        from.fill((byte) 1);
        to.fill((byte) 2);
    }

    /// Copies the buffer.
    ///
    /// @param threads how many threads copy
    /// @param leastBytes how much is copied at least while the clock runs
    /// @return bytes a second
    public double measure(int threads, long leastBytes) {
        long size = from.byteSize();
        run(threads, Math.ceilDiv(WARM_UP_BYTES, size));
        long times = Math.ceilDiv(leastBytes, size);
        return (double) size * times / run(threads, times) * 1e9;
    }

    /// {@return nanoseconds from the common start until the last thread ended}
    private long run(int threads, long times) {
        CountDownLatch ready = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        Thread[] team = new Thread[threads];
        long part = from.byteSize() / threads;
        for (int i = 0; i < threads; i++) {
            long at = i * part;
            long length = i == threads - 1 ? from.byteSize() - at : part;
            team[i] = Thread.ofPlatform()
                    .name("tenon-bench-copy-" + i)
                    .daemon(true)
                    .start(() -> {
                        ready.countDown();
                        Waiting.await(go);
                        for (long k = 0; k < times; k++) {
                            MemorySegment.copy(from, at, to, at, length);
                        }
                    });
        }
        Waiting.await(ready);
        long begin = System.nanoTime();
        go.countDown();
        for (Thread thread : team) {
            Waiting.join(thread);
        }
        return Math.max(1, System.nanoTime() - begin);
    }

    @Override
    public void close() {
        arena.close();
    }
}
