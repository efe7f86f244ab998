package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Two devices at the same time. A Jetson has one GPU, so that two devices are two address spaces on it, as two
/// backends or two processes have them. Oracle: belief.
class TwoDevicesTests {
    private static PushBuffer copyAndSignal(GpuMemory from, GpuMemory to, GpuSignal signal) {
        PushBuffer words = new PushBuffer();
        Commands.copy(words, from.va(), to.va(), 4);
        Commands.copySignal(words, signal.va(), 1);
        return words;
    }

    /// hcq multidevice: work of both goes on in turns, at addresses that both have.
    @Test
    void hcqMultidevice() {
        EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), TestKernels.library());
        try (TegraGpu first = TegraGpu.open(board, TegraOptions.defaults());
                TegraGpu second = TegraGpu.open(board, TegraOptions.defaults());
                GpuDevice a = new GpuDevice(first, 2000);
                GpuDevice b = new GpuDevice(second, 2000);
                GpuMemory fromA = first.allocate(4096, MemoryKind.DATA, "a");
                GpuMemory toA = first.allocate(4096, MemoryKind.DATA, "a");
                GpuMemory fromB = second.allocate(4096, MemoryKind.DATA, "b");
                GpuMemory toB = second.allocate(4096, MemoryKind.DATA, "b")) {
            assertEquals(fromA.va(), fromB.va(), "the same address in two address spaces");
            for (int i = 1; i <= 100; i++) {
                fromA.host().set(ValueLayout.JAVA_INT, 0, i);
                fromB.host().set(ValueLayout.JAVA_INT, 0, -i);
                long doneA = a.copy(fromA.va(), toA.va(), 4);
                long doneB = b.copy(fromB.va(), toB.va(), 4);
                a.await(doneA);
                b.await(doneB);
                assertEquals(i, toA.host().get(ValueLayout.JAVA_INT, 0));
                assertEquals(-i, toB.host().get(ValueLayout.JAVA_INT, 0));
            }
        }
        assertEquals(List.of(), board.open());
        assertEquals(List.of(), board.dmesg());
        board.close();
    }

    /// hcq multidevice signal_wait: one waits for what the processor hands on from the other, since
    /// neither sees the other's signals.
    @Test
    void hcqMultideviceSignalWait() {
        EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), TestKernels.library());
        try (TegraGpu first = TegraGpu.open(board, TegraOptions.defaults());
                TegraGpu second = TegraGpu.open(board, TegraOptions.defaults());
                GpuDevice a = new GpuDevice(first, 2000);
                GpuDevice b = new GpuDevice(second, 2000);
                GpuMemory dataA = first.allocate(8192, MemoryKind.DATA, "a");
                GpuMemory dataB = second.allocate(8192, MemoryKind.DATA, "b");
                GpuMemory target = second.allocate(4096, MemoryKind.DATA, "target")) {
            GpuSignal doneA = new GpuSignal(dataA, 4096);
            GpuSignal goB = new GpuSignal(dataB, 4096);
            PushBuffer wait = new PushBuffer();
            Commands.acquire(wait, goB.va(), 1);
            b.submit(wait);
            long copied = b.copy(dataB.va(), target.va(), 4);
            board.run();
            assertEquals(0, target.host().get(ValueLayout.JAVA_INT, 0), "it waits");
            PushBuffer release = new PushBuffer();
            Commands.release(release, doneA.va(), 1);
            a.await(a.submit(release));
            dataB.host().set(ValueLayout.JAVA_INT, 0, 77);
            goB.set(doneA.value());
            board.run();
            b.await(copied);
            assertEquals(77, target.host().get(ValueLayout.JAVA_INT, 0));
        }
        assertEquals(List.of(), board.open());
        board.close();
    }

    /// hcq cross_device, multidevice_p2p: expected not to work. An address of one device means
    /// nothing on the other; what reaches for it is torn down, and the other goes on.
    @Test
    void hcqCrossDeviceIsRefusedAndTheOtherGoesOn() {
        EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), TestKernels.library());
        TegraGpu first = TegraGpu.open(board, TegraOptions.defaults());
        TegraGpu second = TegraGpu.open(board, TegraOptions.defaults());
        GpuDevice a = new GpuDevice(first, 100);
        GpuDevice b = new GpuDevice(second, 2000);
        GpuMemory far = second.allocate(1 << 20, MemoryKind.DATA, "far");
        GpuMemory beyond = second.allocate(1 << 20, MemoryKind.DATA, "only there");
        GpuMemory near = first.allocate(4096, MemoryKind.DATA, "near");
        GpuSignal signal = new GpuSignal(near, 1024);
        a.submitCopy(copyAndSignal(beyond, near, signal));
        BackendException e = assertThrows(BackendException.class, a::synchronize);
        assertTrue(e.getMessage().contains("copy channel"), e.getMessage());
        assertTrue(e.getMessage().contains("error 31"), e.getMessage());
        assertEquals(0, signal.value());
        far.host().set(ValueLayout.JAVA_INT, 0, 5);
        b.await(b.copy(far.va(), beyond.va(), 4));
        assertEquals(5, beyond.host().get(ValueLayout.JAVA_INT, 0));
        for (AutoCloseable each : List.<AutoCloseable>of(near, beyond, far, a, b, first, second)) {
            close(each);
        }
        assertEquals(List.of(), board.open());
        board.close();
    }

    private static void close(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
