package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.Timeline;
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
}
