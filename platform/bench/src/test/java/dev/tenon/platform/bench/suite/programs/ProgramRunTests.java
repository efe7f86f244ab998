package dev.tenon.platform.bench.suite.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.FakeConsole;
import dev.tenon.platform.bench.FakeModel;
import dev.tenon.platform.bench.report.ProgramResult;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.bench.report.Unit;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramRunTests {
    @TempDir
    Path folder;

    private final List<ProgramResult> saved = new ArrayList<>();

    /// What a program does in a test.
    @FunctionalInterface
    private interface Work {
        void run(ProgramRun run) throws InterruptedException;
    }

    private record Named(Work work) implements Program {
        @Override
        public String name() {
            return "named";
        }

        @Override
        public String about() {
            return "";
        }

        @Override
        public int seconds() {
            return 1;
        }

        @Override
        public void run(ProgramRun run) throws InterruptedException {
            work.run(run);
        }
    }

    /// A GPU of 4 GiB.
    private record Gpu() implements Backend {
        @Override
        public String id() {
            return "gpu";
        }

        @Override
        public int rank() {
            return 1;
        }

        @Override
        public Probe probe() {
            return new Probe(true, "", List.of());
        }

        @Override
        public List<DeviceInfo> devices() {
            return List.of(new DeviceInfo("0", "some GPU", "cuda", 4L << 30, Map.of()));
        }

        @Override
        public Device open(DeviceOptions options) {
            throw new UnsupportedOperationException();
        }
    }

    /// Memory behind a bus, with a clock of its own.
    private static final class SlowMemory implements Allocator {
        private final double mebibytesPerSecond;
        private long nanos;

        SlowMemory(double mebibytesPerSecond) {
            this.mebibytesPerSecond = mebibytesPerSecond;
        }

        private void copy(MemorySegment of) {
            nanos += Math.round(1e9 * of.byteSize() / (1 << 20) / mebibytesPerSecond);
        }

        @Override
        public DeviceBuffer allocate(long bytes, String purpose) {
            return new DeviceBuffer() {
                @Override
                public long sizeBytes() {
                    return bytes;
                }

                @Override
                public Optional<MemorySegment> host() {
                    return Optional.empty();
                }

                @Override
                public void write(long offsetBytes, MemorySegment source) {
                    copy(source);
                }

                @Override
                public void read(long offsetBytes, MemorySegment target) {
                    copy(target);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public DeviceBuffer bind(MemorySegment host, String purpose) {
            throw new UnsupportedOperationException();
        }

        @Override
        public MemoryUse use() {
            throw new UnsupportedOperationException();
        }
    }

    private ProgramResult run(double seconds, Work work) throws InterruptedException {
        ProgramOptions options =
                new ProgramOptions(List.of(), 1, true, folder, folder.resolve("made"), "", "", "", "", "");
        try (ProgramRun run = new ProgramRun(
                new Named(work),
                options,
                new FakeModel(),
                new FakeConsole(),
                new TenonProcess(),
                seconds,
                saved::add)) {
            return run.run();
        }
    }

    @Test
    void eachCaseIsSavedAtOnce() throws InterruptedException {
        ProgramResult result = run(10, run -> {
            run.add("a", "cpu", "decode", Unit.TOKENS_PER_SECOND, 1, 2);
            assertEquals(1, saved.getLast().measurements().size());
            assertFalse(saved.getLast().status().isDone(), "until it has ended");
            run.add("b", "cpu", "decode", Unit.TOKENS_PER_SECOND, 3);
        });
        assertEquals(Status.PASSED, result.status());
        assertEquals(result, saved.getLast());
    }

    @Test
    void aCaseWithoutTimeIsSkippedWithNumbers() throws InterruptedException {
        ProgramResult result = run(100, run -> {
            assertTrue(run.hasTime("short", 1));
            assertFalse(run.hasTime("long", 101));
            run.add("short", "cpu", "decode", Unit.TOKENS_PER_SECOND, 1);
        });
        assertEquals(Status.PASSED, result.status());
        assertEquals(
                "takes about 101 s, and 100 s of 100 s are left",
                result.skipped().getFirst().reason());
    }

    @Test
    void aModelThatDoesNotFitIsRefusedWithNumbers() throws InterruptedException {
        ProgramResult result = run(100, run -> run.attempt("8B", () -> run.requireMemory(5L << 30, new Gpu())));
        assertEquals(Status.SKIPPED, result.status());
        assertEquals("needs 5.75 GiB of memory on gpu; 4.00 GiB are free", result.reason());
    }

    @Test
    void aFailureKeepsWhatCameBefore() throws InterruptedException {
        ProgramResult result = run(100, run -> {
            run.add("a", "gpu", "decode", Unit.TOKENS_PER_SECOND, 1);
            throw new TenonException(ErrorCode.BACKEND_WITHDRAWN, "Backend gpu has gone.");
        });
        assertEquals(Status.FAILED, result.status());
        assertEquals("Backend gpu has gone. [BACKEND-004]", result.reason());
        assertEquals(1, result.measurements().size());
    }

    @Test
    void aCaseThatFailsIsToldAndTheRestRuns() throws InterruptedException {
        ProgramResult result = run(100, run -> {
            for (String backend : List.of("gone", "off", "there")) {
                run.attempt("decode on " + backend, () -> {
                    if (!backend.equals("there")) {
                        throw new TenonException(ErrorCode.BACKEND_FAILED, backend + " does not answer.");
                    }
                    run.add("a", backend, "decode", Unit.TOKENS_PER_SECOND, 1);
                });
            }
        });
        assertEquals(Status.FAILED, result.status());
        assertEquals("gone does not answer. [BACKEND-003] (decode on gone, and 1 more case)", result.reason());
        assertEquals(1, result.measurements().size());
        assertEquals(
                List.of("decode on gone", "decode on off"),
                result.skipped().stream().map(ProgramResult.Skipped::testCase).toList());
    }

    @Test
    void whatABackendDoesNotSupportIsNoFailure() throws InterruptedException {
        ProgramResult result = run(100, run -> {
            assertFalse(run.attempt("Q2_K", () -> {
                throw new TenonException(ErrorCode.BACKEND_UNSUPPORTED, "no kernel for Q2_K");
            }));
            assertTrue(run.attempt("Q8_0", () -> run.add("Q8_0", "gpu", "decode", Unit.TOKENS_PER_SECOND, 1)));
        });
        assertEquals(Status.PASSED, result.status());
        assertEquals("1 case skipped", result.reason());
    }

    @Test
    void withoutATrainedModelTheServerIsLeftOutWithOneLine() throws InterruptedException {
        ProgramResult result = run(100, run -> new CrossProgram().run(run));
        assertEquals(Status.SKIPPED, result.status());
        assertEquals("needs a trained model, and default.gguf is not there; set TENON_MODEL", result.reason());
        assertEquals(
                List.of("tenon serve", "peer's server", "llama-bench"),
                result.skipped().stream().map(ProgramResult.Skipped::testCase).toList());
    }

    @Test
    void copiesThatWouldTakeMinutesAreLeftOut() throws InterruptedException {
        SlowMemory window = new SlowMemory(20);
        ProgramResult result = run(
                100,
                run -> assertEquals(
                        20 << 20,
                        new DeviceCopies(run, "gpu", window, () -> window.nanos).measure(1, 4, 16, 64, 256, 1024),
                        1));
        // 12 copies of 16 MiB would take 9.6 s.
        assertEquals(
                List.of("1 MiB copy in", "1 MiB copy out", "4 MiB copy in", "4 MiB copy out"),
                result.measurements().stream()
                        .map(m -> m.testCase() + " " + m.metric())
                        .toList());
        assertEquals((20 << 20) / 1e9, result.measurements().getFirst().mean(), 1e-6);
        assertEquals(
                "copies of 16 MiB and more on gpu", result.skipped().getFirst().testCase());
        assertEquals(
                "4 MiB took 2.4 s, so they take about 10 s; 5 s are allowed",
                result.skipped().getFirst().reason());

        SlowMemory bus = new SlowMemory(20_000);
        result = run(100, run -> new DeviceCopies(run, "gpu", bus, () -> bus.nanos).measure(1, 4, 16));
        assertEquals(6, result.measurements().size());
        assertEquals(List.of(), result.skipped());
    }

    @Test
    void withoutAnyBackendEachModelProgramFailsWithItsCode() throws InterruptedException {
        ProgramResult result = run(100, run -> new DecodeProgram().run(run));
        assertEquals(Status.FAILED, result.status());
        assertTrue(result.reason().endsWith("[BACKEND-001]"), result.reason());
    }

    @Test
    void onlyFilesThatAreNotThereAreMade() throws InterruptedException, IOException {
        ModelSpec spec = new ModelSpec("llama-3.2-1b", "Q6_K");
        Path made = folder.resolve("made").resolve(spec.fileName());
        Files.createDirectories(made.getParent());
        List<Optional<Path>> there = new ArrayList<>();
        run(100, run -> there.add(run.files().there(spec)));
        Files.createFile(made);
        run(100, run -> there.add(run.files().there(spec)));
        run(100, run -> there.add(run.files().there(spec.cutTo(2))));
        assertEquals(List.of(Optional.empty(), Optional.of(made), Optional.empty()), there);
    }

    @Test
    void realFilesAreKnownByName() {
        ModelSpec spec = new ModelSpec("llama-3.2-1b", "Q6_K");
        assertTrue(ModelFiles.isReal("Llama-3.2-1B-Instruct-Q6_K.gguf", spec));
        assertTrue(ModelFiles.isReal("llama-3.2-1b-q6_k.gguf", spec));
        assertFalse(ModelFiles.isReal("Llama-3.2-1B-Instruct-Q4_K_M.gguf", spec));
        assertFalse(ModelFiles.isReal("Llama-3.2-11B-Q6_K.gguf", spec));
    }
}
