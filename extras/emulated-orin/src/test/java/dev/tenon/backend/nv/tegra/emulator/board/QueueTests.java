package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/// Signals, waits, lists and failures on an emulated board, named as in the list of tests that boards have
/// passed. Oracle: belief, unless a test says otherwise: the board is emulated, and these are what it
/// is believed to do; the words and descriptors themselves are compared with golden ones elsewhere.
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

    /// hcq wait_update: what a list waits for is patched for each run.
    @Test
    void hcqWaitUpdate() {
        try (Orin orin = new Orin();
                CommandList list = new CommandList(orin.device)) {
            GpuMemory counter = orin.buffer(4);
            GpuSignal hold = new GpuSignal(orin.buffer(16), 0);
            list.add(orin.kernel("add_one"), ONE, 0, orin.arguments("add_one").set(0, counter.va()), true);
            list.build();
            for (int i = 1; i <= 20; i++) {
                hold.set(0);
                orin.device.submit(words(b -> Commands.acquire(b, hold.va(), 1)));
                long value = list.run();
                orin.board.run();
                assertEquals(i - 1, Orin.first(counter), "run " + i + " waits for what is before it");
                hold.set(1);
                orin.board.run();
                orin.device.await(value);
                assertEquals(i, Orin.first(counter));
            }
        }
    }

    /// hcq signal_update: what a list signals is patched for each run, and where, as the timeline goes
    /// over to its other signal.
    @Test
    void hcqSignalUpdate() {
        try (Orin orin = new Orin(EmulatorOptions.orin(), 64, 7, GpuDevice.COMMAND_BYTES, GpuDevice.LAUNCH_BYTES);
                CommandList list = new CommandList(orin.device)) {
            GpuMemory counter = orin.buffer(4);
            list.add(orin.kernel("add_one"), ONE, 0, orin.arguments("add_one").set(0, counter.va()), true);
            list.build();
            long before = 0;
            int again = 0;
            for (int i = 1; i <= 40; i++) {
                long value = list.run();
                orin.device.await(value);
                assertEquals(i, Orin.first(counter));
                again += value < before ? 1 : 0;
                before = value;
            }
            assertTrue(again >= 5, "the timeline began again " + again + " times");
        }
    }

    /// H5: a fault tears the channel down; the error says what the driver knows.
    @Test
    void aFaultIsReportedWithWhatTheDriverKnows() {
        Orin orin = new Orin();
        orin.device.launch(
                orin.kernel("add_one"), ONE, 0, orin.arguments("add_one").set(0, 0x1234_5000L));
        BackendException e = assertThrows(BackendException.class, orin.device::synchronize);
        assertTrue(e.getMessage().contains("compute channel"), e.getMessage());
        assertTrue(e.getMessage().contains("error 31: an access where nothing is mapped"), e.getMessage());
        assertTrue(e.getMessage().contains("warp error 0x10"), e.getMessage());
        assertEquals(1, orin.board.dmesg().size());
        assertTrue(
                orin.board.dmesg().getFirst().contains("mmu fault: access of kernel add_one at 0x12345000"),
                orin.board.dmesg().toString());
        orin.release();
    }
}
