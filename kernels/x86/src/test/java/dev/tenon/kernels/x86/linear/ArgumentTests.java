package dev.tenon.kernels.x86.linear;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Here;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What a kernel refuses, and what happens to it when it is closed.
class ArgumentTests {
    private static final int N = 512;
    private static final int ROWS = 8;
    private static final int TOKENS = 12;
    private static final TestRows.Format FORMAT = TestRows.FORMATS.get(1);

    private Arena arena;
    private QuantizedLinear kernel;
    private MemorySegment weights;
    private MemorySegment packed;
    private MemorySegment scratch;
    private LinearCall call;
    private long rowBytes;

    @BeforeEach
    void open() {
        assumeFalse(Here.SETS.isEmpty(), "no feature set is usable on this machine");
        FeatureSet widest = Here.SETS.stream().reduce((a, b) -> b).orElseThrow();
        arena = Arena.ofShared();
        kernel = new QuantizedLinear(FORMAT.code(), widest);
        weights = TestRows.weights(arena, FORMAT, ROWS, N, 1, 0).asReadOnly();
        packed = TestRows.pack(arena, kernel, TestRows.activations(TOKENS, N, 2), TOKENS, N);
        scratch = arena.allocate(kernel.scratchBytes(N, TOKENS), 64);
        call = new LinearCall(scratch);
        rowBytes = FORMAT.code().rowBytes(N);
    }

    @AfterEach
    void close() {
        if (arena != null) {
            arena.close();
            kernel.close();
        }
    }

    private static void refused(String text, Runnable call) {
        BackendException e = assertThrows(BackendException.class, call::run);
        assertEquals(ErrorCode.ARGUMENT, e.code());
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }

    private void run(MemorySegment w, int first, int rows, int tokens, float[] out, int offset, int stride) {
        run(w, first, rows, tokens, new HostFloats(out), offset, stride);
    }

    private void run(MemorySegment w, int first, int rows, int tokens, HostFloats out, int offset, int stride) {
        kernel.run(
                call.of(w, rowBytes, N).rows(first, rows).times(packed, tokens).to(out, offset, stride));
    }

    @Test
    void rowsOutsideTheWeightsAreRefused() {
        float[] out = new float[1000];
        refused("weights", () -> run(weights, 1, ROWS, 1, out, 0, ROWS));
        refused("weights", () -> run(weights, ROWS, 1, 1, out, 0, ROWS));
        refused("weights", () -> run(weights, Integer.MAX_VALUE, 1, 1, out, 0, ROWS));
        refused("weights", () -> run(weights.asSlice(0, rowBytes * ROWS - 1), 0, ROWS, 1, out, 0, ROWS));
        refused("negative", () -> run(weights, -1, 1, 1, out, 0, ROWS));
        refused("negative", () -> run(weights, 0, -1, 1, out, 0, ROWS));
        refused(
                "rowBytes",
                () -> kernel.run(new LinearCall(scratch)
                        .of(weights, rowBytes - 1, N)
                        .rows(0, 1)
                        .times(packed, 1)
                        .to(new HostFloats(out), 0, ROWS)));
    }

    @Test
    void weightsOnTheHeapAreRefused() {
        MemorySegment heap = MemorySegment.ofArray(new byte[(int) weights.byteSize()]);
        refused("heap", () -> run(heap, 0, 1, 1, new float[1], 0, 1));
    }

    @Test
    void resultsThatDoNotFitAreRefused() {
        refused("array of 7", () -> run(weights, 0, ROWS, 1, new float[ROWS - 1], 0, ROWS));
        refused("array", () -> run(weights, 0, ROWS, 1, new float[ROWS], 1, ROWS));
        refused("array", () -> run(weights, 0, ROWS, 2, new float[2 * ROWS], 0, ROWS + 1));
        refused("array", () -> run(weights, 0, ROWS, 2, new float[2 * ROWS], 0, ROWS - 1));
        refused("array", () -> run(weights, 0, ROWS, 1, new float[ROWS], -1, ROWS));
        refused("array", () -> run(weights, 0, ROWS, TOKENS, new float[TOKENS * ROWS], 0, Integer.MAX_VALUE));
    }

    @Test
    void packedRowsAndScratchMustBeLargeEnoughAndAligned() {
        float[] out = new float[1000];
        refused("packed", () -> run(weights, 0, 1, TOKENS + 1, out, 0, 1));
        refused(
                "packed",
                () -> kernel.run(new LinearCall(scratch)
                        .of(weights, rowBytes, N)
                        .rows(0, 1)
                        .times(packed.asSlice(4), 1)
                        .to(new HostFloats(out), 0, 1)));
        refused(
                "scratch",
                () -> kernel.run(new LinearCall(scratch.asSlice(0, 64))
                        .of(weights, rowBytes, N)
                        .rows(0, 1)
                        .times(packed, 1)
                        .to(new HostFloats(out), 0, 1)));
        refused("packed", () -> kernel.pack(new HostFloats(new float[N]), 0, N, packed.asSlice(8)));
        refused("packed", () -> kernel.pack(new HostFloats(new float[N]), 0, N, packed, TOKENS));
        refused("token", () -> kernel.pack(new HostFloats(new float[N]), 0, N, packed, -1));
        refused("of x", () -> kernel.pack(new HostFloats(new float[N]), 1, N, packed));
        refused("of x", () -> kernel.pack(new HostFloats(new float[N]), -1, N, packed));
    }

    @Test
    void partialBlocksAreRefused() {
        refused("multiple of 256", () -> kernel.packedBytes(N + 32));
        refused("multiple of 256", () -> kernel.packedBytes(0));
        refused("multiple of 256", () -> kernel.scratchBytes(-256, 1));
        refused("tokens", () -> kernel.scratchBytes(N, 0));
    }

    @Test
    void nothingToDoIsNotAnError() {
        run(weights, 0, 0, 1, new float[0], 0, 0);
        run(weights, 0, ROWS, 0, new float[0], 0, 0);
    }

    @Test
    void aCallAfterCloseFailsWithATypedError() {
        float[] out = new float[ROWS];
        run(weights, 0, ROWS, 1, out, 0, ROWS);
        kernel.close();
        BackendException e = assertThrows(BackendException.class, () -> run(weights, 0, ROWS, 1, out, 0, ROWS));
        assertEquals(ErrorCode.CLOSED, e.code());
        e = assertThrows(BackendException.class, () -> kernel.pack(new HostFloats(new float[N]), 0, N, packed));
        assertEquals(ErrorCode.CLOSED, e.code());
        kernel.close();
    }

    @Test
    void aKernelClosedBeforeItsFirstCallFailsToo() {
        QuantizedLinear unused = new QuantizedLinear(FORMAT.code(), FeatureSet.AVX2);
        unused.close();
        assertEquals(
                ErrorCode.CLOSED,
                assertThrows(BackendException.class, () -> unused.pack(new HostFloats(new float[N]), 0, N, packed))
                        .code());
    }

    @Test
    void closeWaitsForRunningCalls() throws InterruptedException {
        AtomicReference<Throwable> end = new AtomicReference<>();
        CountDownLatch calls = new CountDownLatch(100);
        Thread caller = Thread.ofPlatform().start(() -> {
            float[] out = new float[TOKENS * ROWS];
            try {
                while (true) {
                    run(weights, 0, ROWS, TOKENS, out, 0, ROWS);
                    calls.countDown();
                }
            } catch (Throwable e) {
                end.set(e);
            }
        });
        assertTrue(calls.await(5, TimeUnit.MINUTES), () -> "no calls: " + end.get());
        kernel.close();
        caller.join(TimeUnit.MINUTES.toMillis(5));
        assertTrue(end.get() instanceof BackendException e && e.code().equals(ErrorCode.CLOSED), "" + end.get());
    }

    @Test
    void weightsThatWereUnmappedFailWithAnException() {
        MemorySegment gone;
        try (Arena shortLived = Arena.ofShared()) {
            gone = TestRows.weights(shortLived, FORMAT, ROWS, N, 1, 0);
        }
        assertThrows(IllegalStateException.class, () -> run(gone, 0, ROWS, 1, new float[ROWS], 0, ROWS));
    }

    @Test
    void runAndPackAllocateNothing() {
        HostFloats input = new HostFloats(TestRows.activations(1, N, 3));
        HostFloats out = new HostFloats(new float[TOKENS * ROWS]);
        assertTrue(leastAllocation(0.99, () -> run(weights, 0, ROWS, 1, out, 0, ROWS)) < 1, "run of 1 token");
        assertTrue(leastAllocation(0.99, () -> run(weights, 0, ROWS, TOKENS, out, 0, ROWS)) < 1, "run of 12 tokens");
        assertTrue(leastAllocation(0.99, () -> kernel.pack(input, 0, N, packed)) < 1, "pack");
    }

    /// {@return bytes that a compiled call allocates, found when they are at most as many as are enough}
    private static double leastAllocation(double enough, Runnable call) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        assumeTrue(threads.isThreadAllocatedMemorySupported(), "this JVM does not count allocation");
        int calls = 100;
        long least = Long.MAX_VALUE;
        // However long a busy machine takes to compile the call.
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
        while (least > enough * calls && System.nanoTime() < end) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < calls; i++) {
                call.run();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return (double) least / calls;
    }
}
