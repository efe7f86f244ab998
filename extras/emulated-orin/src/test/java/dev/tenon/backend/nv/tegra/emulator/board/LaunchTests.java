package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Launches on an emulated board, named as in the list of tests that boards have passed. Oracle: belief,
/// unless a test says otherwise.
class LaunchTests {
    private static final Geometry ONE = Geometry.of(1, 1);

    private static PushBuffer words(java.util.function.Consumer<PushBuffer> commands) {
        PushBuffer buffer = new PushBuffer();
        commands.accept(buffer);
        return buffer;
    }

    /// raw 15: dispatch out[i] = i * i + 1.
    @Test
    void rawDispatch() {
        try (Orin orin = new Orin()) {
            GpuMemory out = orin.buffer(4096);
            orin.device.await(orin.squares(out, 1000, 128));
            for (int i = 0; i < 1000; i++) {
                assertEquals(i * i + 1, out.host().getAtIndex(ValueLayout.JAVA_INT, i));
            }
            assertEquals(0, out.host().getAtIndex(ValueLayout.JAVA_INT, 1000));
        }
    }

    @Test
    void hcqExecOne() {
        try (Orin orin = new Orin()) {
            GpuMemory y = orin.buffer(400);
            GpuMemory x = orin.buffer(400);
            for (int i = 0; i < 100; i++) {
                y.host().setAtIndex(ValueLayout.JAVA_FLOAT, i, i);
                x.host().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
            }
            Arguments arguments = orin.arguments("saxpy")
                    .set(0, y.va())
                    .set(1, x.va())
                    .set(2, 0.5f)
                    .set(3, 100);
            orin.device.await(orin.device.launch(orin.kernel("saxpy"), Geometry.of(1, 128), 0, arguments));
            assertEquals(99.5f, y.host().getAtIndex(ValueLayout.JAVA_FLOAT, 99));
        }
    }

    /// Each launch has its own descriptor, so that none is lost. Oracle: hardware log, where a
    /// shared one lost some.
    @Test
    void hcqExec2Kernels100Times() {
        for (boolean deferred : new boolean[] {false, true}) {
            EmulatorOptions options = EmulatorOptions.orin();
            try (Orin orin = new Orin(deferred ? options.withDeferredLaunches(5) : options)) {
                GpuMemory counter = orin.buffer(4);
                for (int i = 0; i < 100; i++) {
                    orin.addOne(counter);
                    orin.addOne(counter);
                }
                orin.device.synchronize();
                assertEquals(200, Orin.first(counter));
            }
        }
    }

    /// What a launch descriptor that is written again too early does: the emulated GPU reads it
    /// when it runs. Oracle: hardware log; 198 of 200 increments.
    @Test
    void aDescriptorWrittenTooEarlyIsSeen() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(1))) {
            GpuMemory first = orin.buffer(4);
            GpuMemory second = orin.buffer(4);
            GpuMemory block = orin.buffer(orin.kernel("add_one").blockBytes());
            GpuSignal hold = new GpuSignal(orin.buffer(16), 0);
            orin.kernel("add_one")
                    .write(
                            block.host(),
                            block.va(),
                            ONE,
                            0,
                            orin.arguments("add_one").set(0, first.va()));
            long qmd = block.va() + orin.kernel("add_one").qmdOffset();
            long value = orin.device.submit(words(b -> {
                Commands.launch(b, qmd, QmdFormat.V3);
                Commands.acquire(b, hold.va(), 1);
            }));
            orin.kernel("add_one")
                    .write(
                            block.host(),
                            block.va(),
                            ONE,
                            0,
                            orin.arguments("add_one").set(0, second.va()));
            hold.set(1);
            orin.board.run();
            orin.device.await(value);
            assertEquals(0, Orin.first(first), "the launch read what was written too early");
            assertEquals(1, Orin.first(second));
        }
    }

    @Test
    void hcqExecUpdate() {
        try (Orin orin = new Orin();
                CommandList list = new CommandList(orin.device)) {
            GpuMemory out = orin.buffer(4000);
            int launch = list.add(
                    orin.kernel("square_plus_one"),
                    Geometry.of(1, 32),
                    0,
                    orin.arguments("square_plus_one").set(0, out.va()).set(1, 1000),
                    false);
            list.build();
            orin.device.await(list.run());
            assertEquals(31 * 31 + 1, out.host().getAtIndex(ValueLayout.JAVA_INT, 31));
            assertEquals(0, out.host().getAtIndex(ValueLayout.JAVA_INT, 32));
            list.patch(launch, Geometry.of(8, 128));
            orin.device.await(list.run());
            assertEquals(999 * 999 + 1, out.host().getAtIndex(ValueLayout.JAVA_INT, 999));
        }
    }

    @Test
    void hcqExecUpdateFuzz() {
        Random random = new Random(11);
        try (Orin orin = new Orin();
                CommandList list = new CommandList(orin.device)) {
            GpuMemory[] outs = {orin.buffer(8192), orin.buffer(8192), orin.buffer(8192)};
            for (GpuMemory out : outs) {
                list.add(
                        orin.kernel("square_plus_one"),
                        ONE,
                        0,
                        orin.arguments("square_plus_one").set(0, out.va()).set(1, 1),
                        random.nextBoolean());
            }
            list.build();
            for (int round = 0; round < 200; round++) {
                int launch = random.nextInt(3);
                int target = random.nextInt(3);
                int n = 1 + random.nextInt(2048);
                int threads = 1 + random.nextInt(1024);
                list.patch(launch, 0, outs[target].va());
                list.patch(launch, 1, n);
                list.patch(launch, Geometry.of((n + threads - 1) / threads, threads));
                outs[target].host().fill((byte) 0);
                orin.device.await(list.run());
                assertEquals(
                        (n - 1) * (n - 1) + 1,
                        outs[target].host().getAtIndex(ValueLayout.JAVA_INT, n - 1),
                        "seed 11, round " + round);
            }
            assertThrows(IllegalArgumentException.class, () -> list.patch(0, 0, 5), "a parameter of 8 bytes");
        }
    }

    /// hcq bind: one list, run again and again, needs no further words.
    @Test
    void hcqBind() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(9));
                CommandList list = new CommandList(orin.device)) {
            GpuMemory counter = orin.buffer(4);
            for (int i = 0; i < 50; i++) {
                list.add(
                        orin.kernel("add_one"),
                        ONE,
                        0,
                        orin.arguments("add_one").set(0, counter.va()),
                        true);
            }
            list.build();
            int words = list.wordCount();
            for (int i = 0; i < 40; i++) {
                list.run();
            }
            orin.device.synchronize();
            assertEquals(2000, Orin.first(counter));
            assertEquals(words, list.wordCount());
        }
    }

    /// Launches that depend on each other run in their order only with a barrier between them.
    @Test
    void aMissingBarrierIsSeen() {
        boolean wrong = false;
        for (int seed = 0; seed < 20; seed++) {
            for (boolean barrier : new boolean[] {true, false}) {
                try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(seed));
                        CommandList list = new CommandList(orin.device)) {
                    GpuMemory y = orin.buffer(64);
                    GpuMemory x = orin.buffer(64);
                    y.host().set(ValueLayout.JAVA_FLOAT, 0, 1);
                    x.host().set(ValueLayout.JAVA_FLOAT, 0, 1);
                    Arguments add = orin.arguments("saxpy")
                            .set(0, y.va())
                            .set(1, x.va())
                            .set(2, 1f)
                            .set(3, 1);
                    Arguments scale =
                            orin.arguments("scale_by_constant").set(0, y.va()).set(1, 1);
                    list.add(orin.kernel("saxpy"), ONE, 0, add, false);
                    list.add(orin.kernel("scale_by_constant"), ONE, 0, scale, barrier);
                    list.build();
                    orin.device.await(list.run());
                    float found = y.host().get(ValueLayout.JAVA_FLOAT, 0);
                    if (barrier) {
                        assertEquals(5f, found, "seed " + seed);
                    }
                    wrong |= found != 5f;
                }
            }
        }
        assertTrue(wrong, "no order of 20 showed the missing barrier");
    }

    /// B4 edge: write, compute, read, modify, compute. Unified memory: the processor writes and
    /// reads in place.
    @Test
    void edgeWriteComputeReadModifyCompute() {
        try (Orin orin = new Orin()) {
            GpuMemory counter = orin.buffer(4);
            for (int i = 0; i < 50; i++) {
                counter.host().set(ValueLayout.JAVA_INT, 0, 100 * i);
                orin.device.await(orin.addOne(counter));
                assertEquals(100 * i + 1, Orin.first(counter));
            }
        }
    }

    @Test
    void edgeLargeGridAndZeroElements() {
        try (Orin orin = new Orin()) {
            GpuMemory out = orin.buffer(4);
            orin.device.launch(
                    orin.kernel("square_plus_one"),
                    new Geometry(Integer.MAX_VALUE / 1024, 65535, 65535, 1, 1, 1),
                    0,
                    orin.arguments("square_plus_one").set(0, out.va()).set(1, 0));
            orin.device.synchronize();
            assertEquals(0, Orin.first(out));
        }
    }

    /// Constant banks 3 and 4, device variables, parameters with gaps, stacks, shared memory,
    /// barriers.
    @Test
    void everyKindOfKernelRuns() {
        try (Orin orin = new Orin()) {
            GpuMemory out = orin.buffer(1024);
            MemorySegment host = out.host();
            orin.device.await(orin.device.launch(
                    orin.kernel("count"), ONE, 0, orin.arguments("count").set(0, out.va())));
            assertEquals(7, host.get(ValueLayout.JAVA_INT, 0));
            orin.device.await(orin.device.launch(
                    orin.kernel("count"), ONE, 0, orin.arguments("count").set(0, out.va())));
            assertEquals(8, host.get(ValueLayout.JAVA_INT, 0), "a variable of the device keeps its value");

            byte[] m = new byte[40];
            m[0] = 3;
            m[36] = 4;
            orin.device.await(orin.device.launch(
                    orin.kernel("mixed"),
                    ONE,
                    0,
                    orin.arguments("mixed")
                            .set(0, m)
                            .set(1, new byte[] {-1})
                            .set(2, new byte[] {0, 1})
                            .set(3, Double.doubleToLongBits(1000.5))
                            .set(4, out.va())));
            assertEquals(3 + 4 - 1 + 256 + 1000, host.get(ValueLayout.JAVA_INT, 0));

            orin.device.await(orin.device.launch(
                    orin.kernel("local_array"),
                    ONE,
                    0,
                    orin.arguments("local_array").set(0, out.va()).set(1, 3)));
            assertEquals(9 + 63, host.get(ValueLayout.JAVA_INT, 0));

            orin.device.await(orin.device.launch(
                    orin.kernel("two_barriers"),
                    Geometry.of(1, 64),
                    0,
                    orin.arguments("two_barriers").set(0, out.va())));
            assertEquals(63f, host.get(ValueLayout.JAVA_FLOAT, 0));

            GpuMemory x = orin.buffer(400);
            for (int i = 0; i < 100; i++) {
                x.host().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
            }
            orin.device.await(orin.device.launch(
                    orin.kernel("block_sum"),
                    Geometry.of(1, 128),
                    40_000,
                    orin.arguments("block_sum").set(0, out.va()).set(1, x.va()).set(2, 100)));
            assertEquals(100f, host.get(ValueLayout.JAVA_FLOAT, 0));
        }
    }

    @Test
    void argumentsAreChecked() {
        try (Orin orin = new Orin()) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> orin.arguments("saxpy").set(0, 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> orin.arguments("saxpy").set(4, 1));
            Arguments incomplete = orin.arguments("saxpy").set(0, 1L).set(1, 1L).set(2, 1f);
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class, () -> orin.device.launch(orin.kernel("saxpy"), ONE, 0, incomplete));
            assertTrue(e.getMessage().contains("parameter 3"), e.getMessage());
        }
    }

    /// hcq memory_barrier: a kernel sees what the one before wrote, and what the processor wrote.
    @Test
    void hcqMemoryBarrier() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(4))) {
            GpuMemory y = orin.buffer(64);
            GpuMemory x = orin.buffer(64);
            Arguments add = orin.arguments("saxpy")
                    .set(0, y.va())
                    .set(1, x.va())
                    .set(2, 1f)
                    .set(3, 1);
            for (int i = 1; i <= 10; i++) {
                x.host().set(ValueLayout.JAVA_FLOAT, 0, i);
                orin.device.launch(orin.kernel("saxpy"), ONE, 0, add);
                orin.device.await(orin.device.launch(orin.kernel("saxpy"), ONE, 0, add));
                assertEquals(i * (i + 1), y.host().get(ValueLayout.JAVA_FLOAT, 0));
            }
        }
    }

    /// hcq speed_exec_time: signals before and after a launch carry times in their order. How much
    /// lies between them says nothing on an emulated board.
    @Test
    void hcqSpeedExecTime() {
        try (Orin orin = new Orin()) {
            GpuMemory counter = orin.buffer(4);
            GpuMemory signals = orin.buffer(4096);
            long last = 0;
            for (int i = 0; i < 20; i++) {
                GpuSignal begin = new GpuSignal(signals, 0);
                GpuSignal end = new GpuSignal(signals, 16);
                orin.device.submit(words(b -> Commands.release(b, begin.va(), 1)));
                orin.addOne(counter);
                orin.device.await(orin.device.submit(words(b -> Commands.release(b, end.va(), 1))));
                assertTrue(begin.nanos() > last && end.nanos() > begin.nanos());
                last = end.nanos();
            }
        }
    }
}
