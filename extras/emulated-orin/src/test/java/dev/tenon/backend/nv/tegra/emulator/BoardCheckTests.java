package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.check.BoardCheck;
import dev.tenon.backend.nv.tegra.check.Finding;
import dev.tenon.backend.nv.tegra.check.Finding.Level;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The first run on a board, on the emulated one and on broken ones. Oracle: belief.
class BoardCheckTests {
    private static final Map<String, String> QUICK = Map.of("nv-tegra.timeout-ms", "200");

    @TempDir
    Path root;

    private static List<Finding> run(EmulatedOrin orin) {
        List<Finding> heard = new ArrayList<>();
        List<Finding> findings = BoardCheck.run(orin, false, Path.of("/"), QUICK, heard::add);
        assertEquals(heard, findings);
        assertEquals(List.of(), orin.board().open());
        return findings;
    }

    private static Finding surprise(List<Finding> findings) {
        assertEquals(Level.SURPRISE, findings.getLast().level(), findings.toString());
        assertEquals(
                1, findings.stream().filter(f -> f.level() == Level.SURPRISE).count());
        return findings.getLast();
    }

    @Test
    void everyStepPassesOnTheEmulatedBoardTheLeastDangerousFirst() {
        try (EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin())) {
            List<Finding> findings = run(orin);
            assertTrue(findings.stream().allMatch(f -> f.level() == Level.PASS), findings.toString());
            assertEquals(
                    List.of(
                            "characteristics",
                            "address space and group",
                            "memory",
                            "memory speed",
                            "channels and first semaphores",
                            "copy engine",
                            "first kernel",
                            "dependent launches",
                            "more submissions than ring entries",
                            "command list"),
                    findings.stream().map(Finding::step).toList());
            assertEquals(List.of(), orin.board().dmesg());
        }
    }

    @Test
    void itStopsAtAnotherGpu() {
        try (EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin().withGpu(0xC9C0, 0))) {
            List<Finding> findings = run(orin);
            assertEquals(1, findings.size(), findings.toString());
            assertTrue(surprise(findings).found().contains("0xc9c0"), findings.toString());
        }
    }

    @Test
    void itStopsWhereTheGpuDoesNotAnswer() {
        try (EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin())) {
            orin.board().faults().hang(true);
            Finding last = surprise(run(orin));
            assertEquals("channels and first semaphores", last.step());
            assertTrue(last.found().contains("did not come back within 200 ms"), last.found());
        }
    }

    @Test
    void onTheMachineItselfFilesComeFirst() throws IOException {
        try (EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin())) {
            Finding first = surprise(BoardCheck.run(orin, true, root, QUICK, f -> {}).stream()
                    .filter(f -> f.level() != Level.NOTE)
                    .toList());
            assertEquals("release", first.step());
            Files.createDirectories(root.resolve("etc"));
            Files.writeString(root.resolve("etc/nv_tegra_release"), "# R36 (release), REVISION: 4.4\n");
            Finding second = surprise(BoardCheck.run(orin, true, root, QUICK, f -> {}).stream()
                    .filter(f -> f.level() != Level.NOTE)
                    .toList());
            assertEquals("device nodes", second.step());
            Files.createDirectories(root.resolve("dev/nvgpu/igpu0"));
            Files.createFile(root.resolve("dev/nvmap"));
            Files.createFile(root.resolve("dev/nvgpu/igpu0/ctrl"));
            Files.createDirectories(root.resolve("sys/class/devfreq/17000000.gpu"));
            Files.writeString(root.resolve("sys/class/devfreq/17000000.gpu/cur_freq"), "306000000\n");
            List<Finding> all = BoardCheck.run(orin, true, root, QUICK, f -> {});
            assertEquals(
                    List.of("release", "device nodes", "power and clocks", "characteristics"),
                    all.subList(0, 4).stream().map(Finding::step).toList());
            assertTrue(
                    all.get(2).found().contains("GPU cur_freq 306000000"),
                    all.get(2).found());
            assertEquals(List.of(), orin.board().open());
        }
    }

    @Test
    void wrongSettingsAreRefused() {
        try (EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin())) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> BoardCheck.run(orin, false, root, Map.of("nv-tegra.ring-entries", "3000000"), finding -> {}));
            assertEquals(List.of(), orin.board().open());
        }
    }
}
