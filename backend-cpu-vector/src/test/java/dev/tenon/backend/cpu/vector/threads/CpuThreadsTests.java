package dev.tenon.backend.cpu.vector.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class CpuThreadsTests {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void noThreadPassesABarrierBeforeAllHaveCome(int size) {
        try (CpuThreads team = new CpuThreads(size)) {
            AtomicInteger come = new AtomicInteger();
            AtomicInteger early = new AtomicInteger();
            for (int run = 0; run < 20; run++) {
                come.set(0);
                team.run(thread -> {
                    for (int phase = 1; phase <= 50; phase++) {
                        come.incrementAndGet();
                        team.barrier(thread);
                        if (come.get() < phase * size) {
                            early.incrementAndGet();
                        }
                        team.barrier(thread);
                    }
                });
            }
            assertEquals(0, early.get());
            assertEquals(50 * size, come.get());
        }
    }

    @Test
    void everyItemIsClaimedOnceInEachPhase() {
        try (CpuThreads team = new CpuThreads(3)) {
            AtomicIntegerArray taken = new AtomicIntegerArray(1000);
            team.run(thread -> {
                for (int phase = 0; phase < 7; phase++) {
                    for (int i = team.claim(3); i < 1000; i = team.claim(3)) {
                        for (int k = i; k < Math.min(i + 3, 1000); k++) {
                            taken.incrementAndGet(k);
                        }
                    }
                    team.barrier(thread);
                }
            });
            for (int i = 0; i < 1000; i++) {
                assertEquals(7, taken.get(i), "item " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void anExceptionOfAnyThreadReachesTheCallerAndTheTeamStaysUsable(int failing) {
        try (CpuThreads team = new CpuThreads(3)) {
            for (int run = 0; run < 5; run++) {
                IllegalStateException thrown = new IllegalStateException("made by the test");
                BackendException e = assertThrows(
                        BackendException.class,
                        () -> team.run(thread -> {
                            team.barrier(thread);
                            if (thread == failing) {
                                throw thrown;
                            }
                            team.barrier(thread);
                        }));
                assertEquals(ErrorCode.BACKEND_FAILED, e.code());
                assertSame(thrown, e.getCause());
                AtomicInteger ran = new AtomicInteger();
                team.run(thread -> {
                    team.barrier(thread);
                    ran.incrementAndGet();
                });
                assertEquals(3, ran.get());
            }
        }
    }

    @Test
    void closingEndsTheWorkersAndLaterJobsAreRefused() {
        Thread[] worker = new Thread[2];
        CpuThreads team = new CpuThreads(2);
        team.run(thread -> worker[thread] = Thread.currentThread());
        team.close();
        team.close();
        assertFalse(worker[1].isAlive());
        BackendException e = assertThrows(BackendException.class, () -> team.run(thread -> {}));
        assertEquals(ErrorCode.CLOSED, e.code());
    }

    @Test
    void jobsOfSeveralCallersRunOneAfterTheOther() throws Exception {
        try (CpuThreads team = new CpuThreads(2)) {
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger overlaps = new AtomicInteger();
            Runnable caller = () -> {
                for (int i = 0; i < 200; i++) {
                    team.run(thread -> {
                        if (thread == 0 && inside.getAndIncrement() != 0) {
                            overlaps.incrementAndGet();
                        }
                        team.barrier(thread);
                        if (thread == 0) {
                            inside.decrementAndGet();
                        }
                        team.barrier(thread);
                    });
                }
            };
            FutureTask<Void> other = new FutureTask<>(caller, null);
            Thread.ofPlatform().start(other);
            caller.run();
            other.get();
            assertEquals(0, overlaps.get());
        }
    }

    /// No thread would park by time here, so who parks does it for the processor that it shares.
    @Test
    void whoSharesAProcessorWithAnotherThreadParksInsteadOfSpinning() {
        long hour = TimeUnit.HOURS.toNanos(1);
        try (CpuThreads team = new CpuThreads(2, null, hour, () -> 7)) {
            team.noticeProcessors();
            Thread[] worker = new Thread[2];
            team.run(thread -> worker[thread] = Thread.currentThread());
            AtomicInteger sum = new AtomicInteger();
            for (int run = 0; run < 100; run++) {
                team.run(thread -> {
                    team.barrier(thread);
                    while (thread == 0 && worker[1].getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                    sum.incrementAndGet();
                    team.barrier(thread);
                });
            }
            assertEquals(200, sum.get());
        }
    }

    @Test
    void aThreadSaysWhichProcessorItIsOn() throws Exception {
        assumeTrue(System.getProperty("os.name").startsWith("Linux"), "only Linux tells");
        assertTrue(CurrentProcessor.index() >= 0);
        try (Arena arena = Arena.ofConfined()) {
            Affinity affinity = new Affinity("Linux");
            MemorySegment before = affinity.mask(arena);
            affinity.get(before);
            int[] allowed = Affinity.processors(before);
            try {
                for (int cpu : allowed) {
                    affinity.set(affinity.mask(arena, cpu));
                    assertEquals(cpu, CurrentProcessor.index());
                }
            } finally {
                affinity.set(before);
            }
        }
    }
}
