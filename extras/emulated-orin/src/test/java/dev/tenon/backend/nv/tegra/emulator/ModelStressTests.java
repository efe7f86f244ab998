package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Small models on one board: long runs and many openings.
///
/// Long: a thousand tokens and a thousand openings of the device, on emulated instructions.
@Tag("long")
class ModelStressTests {
    private static final String TINY_RING = "4";

    /// Every step is one ring entry, so that the ring wraps many times. Oracle: belief.
    @Test
    void tenThousandLaunchesInASmallRing() {
        try (ModelTests.Machine machine = new ModelTests.Machine(EmulatorOptions.orin());
                Model model = ModelTests.model();
                Device device = machine.open(machine.orin.board(), "nv-tegra.ring-entries", TINY_RING)) {
            int[] launches = new int[1];
            machine.orin.board().record(new StreamRecorder() {
                @Override
                public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
                    launches[0]++;
                }
            });
            float[][] one = ModelTests.run(device, model, 1000, 1);
            float[][] many = ModelTests.run(device, model, 1000, 16);
            assertTrue(launches[0] > 10_000, launches[0] + " launches");
            for (int t = 0; t < one.length; t++) {
                assertArrayEquals(many[t], one[t], 1e-4f, "token " + t);
            }
        }
    }

    @Test
    void aThousandTimesOpenRunCloseLeavesNothing() {
        try (ModelTests.Machine machine =
                        new ModelTests.Machine(EmulatorOptions.orin().withMaxFiles(256));
                Model model = ModelTests.model()) {
            for (int i = 0; i < 1000; i++) {
                try (Device device = machine.open(machine.orin.board());
                        PlanDriver driver = new PlanDriver(device, model, Settings.of(1, 1, 8))) {
                    driver.step(new Chunk(driver.open(), ModelTests.tokens(1), true));
                }
                assertEquals(List.of(), machine.orin.board().open(), "after round " + i);
            }
        }
    }
}
