package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.gpu.Commands;
import dev.tenon.backend.nv.tegra.gpu.Geometry;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import dev.tenon.backend.nv.tegra.gpu.NvErrors;
import dev.tenon.backend.nv.tegra.gpu.PushBuffer;
import dev.tenon.backend.nv.tegra.gpu.Timeline;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/// Many submissions through small rings. Oracle: belief.
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
