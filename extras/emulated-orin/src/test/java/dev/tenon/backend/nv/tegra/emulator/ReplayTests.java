package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.emulator.replay.StreamReplay;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamFile;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A model's stream, executed again. Oracle: the first execution.
class ReplayTests {
    private static final int ENTRY = 10;

    @TempDir
    static Path folder;

    private static byte[] stream;

    @BeforeAll
    static void record() throws IOException {
        Path file = folder.resolve("model.tnvs");
        NvTegraBackend backend = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
        Map<String, String> settings = Map.of("emulated.record", file.toString(), "nv-tegra.kernels", "stand-ins");
        try (Model model = RandomModels.llamaLike(5, TestFormats.F32, Shape.smallFor(TestFormats.F32));
                Device device = backend.open(DeviceOptions.builder()
                        .deviceId("emulated")
                        .settings(settings)
                        .build());
                PlanDriver driver = new PlanDriver(device, model, Settings.of(4, 1, 16))) {
            driver.feed(driver.open(), new int[] {1, 2, 3, 4, 5, 6}, 2);
        }
        stream = Files.readAllBytes(file);
    }

    private static String replay(byte[] bytes, boolean same) throws IOException {
        List<String> lines = new ArrayList<>();
        assertEquals(same, StreamReplay.run(new ByteArrayInputStream(bytes), lines::add), lines.toString());
        return lines.getFirst();
    }

    /// A change to a stream on its way from one file to another.
    private abstract static class Changed implements StreamRecorder {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final StreamRecorder to;
        int entries;

        Changed() throws IOException {
            to = StreamFile.writer(bytes);
        }

        byte[] result() throws IOException {
            StreamFile.read(new ByteArrayInputStream(stream), this);
            return bytes.toByteArray();
        }

        @Override
        public void words(int token, long va, int[] words) {
            entries++;
            to.words(token, va, words);
        }

        @Override
        public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
            to.launch(token, kernel, qmd, bank0);
        }

        @Override
        public void code(byte[] cubin) {
            to.code(cubin);
        }

        @Override
        public void mapped(long va, long size) {
            to.mapped(va, size);
        }

        @Override
        public void unmapped(long va) {
            to.unmapped(va);
        }

        @Override
        public void written(long va, byte[] page) {
            to.written(va, page);
        }

        @Override
        public void changed(int token, long va, int crc) {
            to.changed(token, va, crc);
        }

        @Override
        public void done(int token) {
            to.done(token);
        }
    }

    @Test
    void theSameAgainIsTheSame() throws IOException {
        String line = replay(stream, true);
        assertTrue(line.endsWith("all as recorded"), line);
        int launches = Integer.parseInt(line.replaceAll(".*entries, (\\d+) launches.*", "$1"));
        assertTrue(launches > 30, line);
    }

    @Test
    void aChangedFileIsRewrittenWithoutAChangeOtherwise() throws IOException {
        assertEquals(stream.length, new Changed() {}.result().length);
    }

    @Test
    void otherMemoryIsFound() throws IOException {
        byte[] other = new Changed() {
            private boolean done;

            @Override
            public void written(long va, byte[] page) {
                byte[] copy = page.clone();
                if (!done && entries > ENTRY) {
                    copy[1] ^= 1;
                    done = true;
                }
                to.written(va, copy);
            }
        }.result();
        String line = replay(other, false);
        assertTrue(line.contains("recorded: "), line);
    }

    @Test
    void otherCommandsAreFound() throws IOException {
        byte[] other = new Changed() {
            @Override
            public void words(int token, long va, int[] words) {
                entries++;
                int[] copy = words.clone();
                if (entries == ENTRY) {
                    // The semaphore's address at the end, or what stands there.
                    copy[copy.length - 5] ^= 1 << 6;
                }
                to.words(token, va, copy);
            }
        }.result();
        assertFalse(replay(other, false).contains("all as recorded"));
    }

    @Test
    void aMissingLaunchIsFound() throws IOException {
        byte[] other = new Changed() {
            private boolean done;

            @Override
            public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
                if (done) {
                    to.launch(token, kernel, qmd, bank0);
                }
                done = true;
            }
        }.result();
        String line = replay(other, false);
        assertTrue(line.contains("launch of"), line);
    }
}
