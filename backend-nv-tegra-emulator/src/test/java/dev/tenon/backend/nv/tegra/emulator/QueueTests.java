package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.gpu.Arguments;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.Commands;
import dev.tenon.backend.nv.tegra.gpu.Geometry;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import dev.tenon.backend.nv.tegra.gpu.NvErrors;
import dev.tenon.backend.nv.tegra.gpu.PushBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Queues, signals, launches and command lists on an emulated board, named as in the list of tests
/// that boards have passed. Oracle: belief, unless a test says otherwise: the board is emulated,
/// and these are what it is believed to do; the words and descriptors themselves are compared with
/// golden ones elsewhere.
class QueueTests {
    private static final Geometry ONE = Geometry.of(1, 1);

    private static PushBuffer words(java.util.function.Consumer<PushBuffer> commands) {
        PushBuffer buffer = new PushBuffer();
        commands.accept(buffer);
        return buffer;
    }

    /// raw 13. Oracle: hardware log for the words of the release.
    @Test
    void rawSemaphoreRelease() {
        try (Orin orin = new Orin()) {
            GpuSignal signal = new GpuSignal(orin.buffer(4096), 0);
            long value = orin.device.submit(words(b -> Commands.release(b, signal.va(), 0xDEADBEEF42L)));
            orin.device.await(value);
            assertEquals(0xDEADBEEF42L, signal.value());
            assertTrue(signal.nanos() > 0);
        }
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
    void hcqSignalAndWaitAlreadySet() {
        try (Orin orin = new Orin()) {
            GpuSignal signal = new GpuSignal(orin.buffer(4096), 32);
            signal.set(7);
            PushBuffer work = words(b -> {
                Commands.acquire(b, signal.va(), 7);
                Commands.release(b, signal.va(), 8);
            });
            orin.device.await(orin.device.submit(work));
            assertEquals(8, signal.value());
        }
    }

    @Test
    void hcqWaitLateSet() {
        try (Orin orin = new Orin()) {
            GpuSignal signal = new GpuSignal(orin.buffer(4096), 0);
            GpuMemory counter = orin.buffer(4);
            orin.device.submit(words(b -> Commands.acquire(b, signal.va(), 5)));
            long value = orin.addOne(counter);
            orin.board.run();
            assertEquals(0, Orin.first(counter), "it waits");
            signal.set(4);
            orin.board.run();
            assertEquals(0, Orin.first(counter), "it still waits");
            signal.set(5);
            orin.board.run();
            orin.device.await(value);
            assertEquals(1, Orin.first(counter));
        }
    }

    /// A wait compares as signed numbers, so that a value beyond the middle of the range counts as
    /// passed.
    @Test
    void hcqWaitIsCircular() {
        try (Orin orin = new Orin()) {
            GpuSignal signal = new GpuSignal(orin.buffer(4096), 0);
            signal.set(-3);
            long value = orin.device.submit(words(b -> Commands.acquire(b, signal.va(), -5)));
            orin.device.await(value);
            orin.device.submit(words(b -> Commands.acquire(b, signal.va(), 5)));
            assertThrows(BackendException.class, orin.device::synchronize);
            signal.set(5);
            orin.board.run();
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
                Commands.launch(b, qmd);
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

    /// hcq copy, update_copy, and small sizes of B4.
    @Test
    void hcqCopy() {
        try (Orin orin = new Orin()) {
            GpuMemory from = orin.buffer(16 << 20);
            GpuMemory to = orin.buffer(16 << 20);
            new Random(1).ints(from.sizeBytes() / 4).forEach(new java.util.function.IntConsumer() {
                private long at;

                @Override
                public void accept(int value) {
                    from.host().setAtIndex(ValueLayout.JAVA_INT, at++, value);
                }
            });
            for (int bytes : new int[] {1, 3, 64, 4096, 65536, 1 << 20, 16 << 20}) {
                to.host().fill((byte) 0);
                orin.device.await(orin.device.copy(from.va(), to.va(), bytes));
                assertEquals(-1, MemorySegment.mismatch(from.host(), 0, bytes, to.host(), 0, bytes), bytes + " bytes");
            }
        }
    }

    @Test
    void hcqMemoryBarrierBeforeCopy() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(2))) {
            GpuMemory out = orin.buffer(4096);
            GpuMemory copy = orin.buffer(4096);
            orin.squares(out, 1024, 256);
            orin.device.copy(out.va(), copy.va(), 4096);
            orin.device.synchronize();
            assertEquals(1023 * 1023 + 1, copy.host().getAtIndex(ValueLayout.JAVA_INT, 1023));
        }
    }

    @Test
    void hcqWriteAndPollBit() {
        try (Orin orin = new Orin()) {
            GpuMemory memory = orin.buffer(64);
            GpuMemory counter = orin.buffer(4);
            orin.device.await(orin.device.submit(words(b -> Commands.write(b, memory.va() + 4, 0x10))));
            assertEquals(0x10, memory.host().get(ValueLayout.JAVA_INT, 4));
            assertEquals(0, memory.host().get(ValueLayout.JAVA_INT, 8), "32 bits only");
            orin.device.submit(words(b -> {
                Commands.pollBit(b, memory.va() + 4, 0x10, true);
                Commands.pollBit(b, memory.va() + 4, 0x20, false);
            }));
            orin.addOne(counter);
            orin.device.synchronize();
            memory.host().set(ValueLayout.JAVA_INT, 4, 0x20);
            orin.device.submit(words(b -> Commands.pollBit(b, memory.va() + 4, 0x20, false)));
            orin.addOne(counter);
            orin.board.run();
            assertEquals(1, Orin.first(counter), "it waits for the bit to be 0");
            memory.host().set(ValueLayout.JAVA_INT, 4, 0);
            orin.board.run();
            orin.device.synchronize();
            assertEquals(2, Orin.first(counter));
        }
    }

    @Test
    void hcqTimelineSignalRollover() {
        try (Orin orin = new Orin(EmulatorOptions.orin(), 64, 10, GpuDevice.COMMAND_BYTES, GpuDevice.LAUNCH_BYTES);
                CommandList list = new CommandList(orin.device)) {
            GpuMemory counter = orin.buffer(4);
            list.add(orin.kernel("add_one"), ONE, 0, orin.arguments("add_one").set(0, counter.va()), true);
            list.build();
            for (int i = 0; i < 100; i++) {
                orin.addOne(counter);
                list.run();
                orin.device.copy(counter.va(), counter.va() + 2048, 4);
            }
            orin.device.synchronize();
            assertEquals(200, Orin.first(counter));
        }
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

    /// hcq on_device_hang: the error says so, and so does everything after it.
    @Test
    void hcqOnDeviceHang() {
        Orin orin = new Orin();
        GpuMemory counter = orin.buffer(4);
        orin.board.faults().hang(true);
        orin.addOne(counter);
        BackendException e = assertThrows(BackendException.class, orin.device::synchronize);
        assertEquals(NvErrors.FAULT, e.code());
        assertTrue(e.getMessage().contains("100 ms"), e.getMessage());
        BackendException again = assertThrows(BackendException.class, orin.device::synchronize);
        assertTrue(again.getMessage().contains("100 ms"), again.getMessage());
        orin.release();
    }

    /// H5: a fault tears the channel down; the error says what the driver knows.
    @Test
    void aFaultIsReportedWithWhatTheDriverKnows() {
        Orin orin = new Orin();
        orin.device.launch(
                orin.kernel("add_one"), ONE, 0, orin.arguments("add_one").set(0, 0x1234_5000L));
        BackendException e = assertThrows(BackendException.class, orin.device::synchronize);
        assertTrue(e.getMessage().contains("compute channel"), e.getMessage());
        assertTrue(e.getMessage().contains("warp error 0x10"), e.getMessage());
        assertEquals(1, orin.board.dmesg().size());
        assertTrue(
                orin.board.dmesg().getFirst().contains("mmu fault: access of kernel add_one at 0x12345000"),
                orin.board.dmesg().toString());
        orin.release();
    }
}
