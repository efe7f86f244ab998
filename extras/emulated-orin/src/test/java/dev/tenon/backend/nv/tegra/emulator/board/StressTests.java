package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.gpu.Timeline;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Many submissions through small rings. Oracle: belief.
///
/// Long: ten thousand emulated launches.
@Tag("long")
class StressTests {
    /// B4 edge: 1200 submissions through a ring of 1024.
    @Test
    void edge1200SubmitsOn1024Ring() {
        for (EmulatorOptions options : new EmulatorOptions[] {
            EmulatorOptions.orin(), EmulatorOptions.orin().withThread()
        }) {
            try (Orin orin = new Orin(options)) {
                GpuMemory counter = orin.buffer(4);
                for (int i = 0; i < 1200; i++) {
                    orin.addOne(counter);
                }
                orin.device.synchronize();
                assertEquals(1200, Orin.first(counter));
            }
        }
    }

    /// B5 stress: 10,000 launches, with rings so small that everything wraps many times.
    @Test
    void stress10000LaunchesThroughSmallRings() {
        for (boolean threaded : new boolean[] {false, true}) {
            EmulatorOptions options = EmulatorOptions.orin();
            int launches = threaded ? 2_000 : 10_000;
            try (Orin orin = new Orin(threaded ? options.withThread() : options, 8, Timeline.MAX_VALUE, 2048, 8192)) {
                GpuMemory counter = orin.buffer(4);
                for (int i = 0; i < launches; i++) {
                    orin.addOne(counter);
                }
                orin.device.synchronize();
                assertEquals(launches, Orin.first(counter));
            }
        }
    }

    /// B5 stress: mixed compute and copy; each increments what the other hands on.
    @Test
    void stressMixedComputeAndCopy1000() {
        for (EmulatorOptions options : new EmulatorOptions[] {
            EmulatorOptions.orin().withDeferredLaunches(3),
            EmulatorOptions.orin().withThread()
        }) {
            try (Orin orin = new Orin(options, 16, 700, 4096, 16384)) {
                GpuMemory a = orin.buffer(4);
                GpuMemory b = orin.buffer(4);
                for (int i = 0; i < 500; i++) {
                    orin.addOne(a);
                    orin.device.copy(a.va(), b.va(), 4);
                    orin.addOne(b);
                    orin.device.copy(b.va(), a.va(), 4);
                }
                orin.device.synchronize();
                assertEquals(1000, Orin.first(a));
            }
        }
    }

    /// B5 stress: a chain of 1000 signals, each submission after the one before, on both engines in
    /// turns.
    @Test
    void stressChainOf1000Signals() {
        try (Orin orin = new Orin()) {
            GpuSignal[] chain = new GpuSignal[1001];
            GpuMemory memory = orin.buffer(16L * chain.length);
            for (int i = 0; i < chain.length; i++) {
                chain[i] = new GpuSignal(memory, 16L * i);
            }
            for (int i = 0; i < 1000; i++) {
                long before = chain[i].va();
                long after = chain[i + 1].va();
                PushBuffer words = new PushBuffer();
                Commands.acquire(words, before, 1);
                if (i % 2 == 0) {
                    Commands.release(words, after, 1);
                    orin.device.submit(words);
                } else {
                    Commands.copySignal(words, after, 1);
                    orin.device.submitCopy(words);
                }
            }
            orin.board.run();
            assertEquals(0, chain[1000].value(), "nothing has begun it");
            chain[0].set(1);
            orin.board.run();
            orin.device.synchronize();
            for (int i = 1; i < chain.length; i++) {
                assertEquals(1, chain[i].value(), "signal " + i);
                assertTrue(i == 1 || chain[i].nanos() > chain[i - 1].nanos(), "signal " + i);
            }
        }
    }

    /// B5 stress: kernels with shared memory, static and dynamic, of many sizes.
    @Test
    void stressSharedMemoryKernel() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(6))) {
            GpuMemory x = orin.buffer(4096);
            GpuMemory out = orin.buffer(4096);
            for (int i = 0; i < 1024; i++) {
                x.host().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
            }
            for (int round = 0; round < 300; round++) {
                int n = 1 + round * 3;
                orin.device.await(orin.device.launch(
                        orin.kernel("block_sum"),
                        Geometry.of(1 + round % 7, 128),
                        128 * (1 + round),
                        orin.arguments("block_sum")
                                .set(0, out.va())
                                .set(1, x.va())
                                .set(2, n)));
                assertEquals(n, out.host().getAtIndex(ValueLayout.JAVA_FLOAT, round % 7), "round " + round);
            }
        }
    }

    /// B5 stress: threads that launch and copy at the same time.
    @Test
    void stressConcurrentOps() throws InterruptedException {
        try (Orin orin = new Orin(EmulatorOptions.orin().withThread(), 32, Timeline.MAX_VALUE, 8192, 65536)) {
            GpuMemory counters = orin.buffer(4096);
            GpuMemory copies = orin.buffer(4096);
            ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long at = 64L * t;
                threads.add(Thread.ofPlatform()
                        .uncaughtExceptionHandler((thread, failure) -> failures.add(failure))
                        .start(() -> {
                            for (int i = 0; i < 250; i++) {
                                orin.device.launch(
                                        orin.kernel("add_one"),
                                        Geometry.of(1, 1),
                                        0,
                                        orin.arguments("add_one").set(0, counters.va() + at));
                                orin.device.await(orin.device.copy(counters.va() + at, copies.va() + at, 4));
                            }
                        }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), List.copyOf(failures));
            for (int t = 0; t < 4; t++) {
                assertEquals(250, copies.host().get(ValueLayout.JAVA_INT, 64L * t), "thread " + t);
            }
        }
    }

    /// B5 stress, churn: buffers of all sizes, modules and lists come and go while work goes on.
    /// Boards did this for 30 seconds; here it is a number of rounds.
    @Test
    void stressChurn() {
        Random random = new Random(17);
        try (Orin orin = new Orin(EmulatorOptions.orin().withMaxFiles(256))) {
            GpuMemory counter = orin.buffer(4);
            long inUse = orin.gpu.allocatedBytes();
            List<GpuMemory> live = new ArrayList<>();
            for (int round = 0; round < 3000; round++) {
                if (live.size() < 60 && random.nextInt(5) < 3) {
                    live.add(orin.gpu.allocate(
                            1 + random.nextInt(1 << 4 + random.nextInt(20)), MemoryKind.DATA, "churn"));
                } else if (!live.isEmpty()) {
                    live.remove(random.nextInt(live.size())).close();
                }
                if (round % 100 == 0) {
                    try (LoadedModule module = orin.device.load(TestKernels.cubin());
                            CommandList list = new CommandList(orin.device)) {
                        LoadedKernel kernel = module.kernel("add_one");
                        list.add(
                                kernel,
                                Geometry.of(1, 1),
                                0,
                                new Arguments(kernel.kernel()).set(0, counter.va()),
                                true);
                        list.build();
                        orin.device.await(list.run());
                    }
                } else {
                    orin.addOne(counter);
                }
            }
            orin.device.synchronize();
            assertEquals(3000, Orin.first(counter));
            live.forEach(GpuMemory::close);
            assertEquals(inUse, orin.gpu.allocatedBytes());
        }
    }

    /// B5 back-pressure: while the GPU waits, what is in flight is not overwritten, whichever ring
    /// is full first.
    @Test
    void backPressureNothingInFlightIsOverwritten() {
        long[][] sizes = {{8, 1 << 16, 1 << 20}, {1024, 1024, 1 << 20}, {1024, 1 << 16, 8192}};
        for (long[] each : sizes) {
            String where = "ring " + each[0] + ", commands " + each[1] + ", launches " + each[2];
            Orin orin = new Orin(EmulatorOptions.orin(), (int) each[0], Timeline.MAX_VALUE, each[1], each[2]);
            GpuMemory counters = orin.buffer(4096);
            GpuSignal hold = new GpuSignal(orin.buffer(16), 0);
            PushBuffer wait = new PushBuffer();
            Commands.acquire(wait, hold.va(), 1);
            orin.device.submit(wait);
            int[] accepted = {0};
            BackendException e = assertThrows(
                    BackendException.class,
                    () -> {
                        for (int i = 0; i < 1000; i++) {
                            orin.device.launch(
                                    orin.kernel("add_one"),
                                    Geometry.of(1, 1),
                                    0,
                                    orin.arguments("add_one").set(0, counters.va() + 4L * i));
                            accepted[0]++;
                        }
                    },
                    where);
            assertEquals(NvErrors.FAULT, e.code());
            assertTrue(accepted[0] >= 5 && accepted[0] <= 12, where + ": " + accepted[0] + " launches");
            hold.set(1);
            orin.board.run();
            for (int i = 0; i < 1000; i++) {
                int expected = i < accepted[0] ? 1 : 0;
                assertEquals(expected, counters.host().getAtIndex(ValueLayout.JAVA_INT, i), where + ", launch " + i);
            }
            orin.release();
        }
    }
}
