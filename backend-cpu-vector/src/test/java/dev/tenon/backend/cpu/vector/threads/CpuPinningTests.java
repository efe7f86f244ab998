package dev.tenon.backend.cpu.vector.threads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class CpuPinningTests {
    private static final String OS = System.getProperty("os.name");
    /// The calling thread's folder below `/proc/self/task`.
    private static final Path STATUS = Path.of("/proc/thread-self/status");

    /// What the kernel itself says about the calling thread, such as `0-1`.
    private static String allowed() {
        try (var lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void requireLinux() {
        assumeTrue(OS.startsWith("Linux") && Files.isReadable(STATUS), "threads are pinned on Linux only");
    }

    private static int processors() {
        Affinity affinity = new Affinity(OS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = affinity.mask(arena);
            affinity.get(mask);
            return Affinity.processors(mask).length;
        }
    }

    @Test
    void eachThreadHasAProcessorOfItsOwnAndTheCallerGetsItsMaskBack() {
        requireLinux();
        int size = Math.min(processors(), 4);
        CpuPinning pinning = new CpuPinning(new Affinity(OS), size);
        String before = allowed();
        String[] masks = new String[size];
        String[] expected = new String[size];
        for (int i = 0; i < size; i++) {
            expected[i] = Integer.toString(pinning.processors()[i]);
        }
        try (CpuThreads team = new CpuThreads(size, pinning)) {
            for (int run = 0; run < 3; run++) {
                team.run(thread -> masks[thread] = allowed());
                assertArrayEquals(expected, masks);
                assertEquals(before, allowed());
            }
            assertThrows(
                    BackendException.class,
                    () -> team.run(thread -> {
                        throw new IllegalStateException("made by the test");
                    }));
            assertEquals(before, allowed());
        }
    }

    @Test
    void aVirtualThreadIsNotBound() throws Exception {
        requireLinux();
        assumeTrue(processors() > 1, "with one processor nothing can be told apart");
        String[] masks = new String[1];
        try (CpuThreads team = new CpuThreads(1, new CpuPinning(new Affinity(OS), 1))) {
            FutureTask<Void> run = new FutureTask<>(() -> team.run(thread -> masks[thread] = allowed()), null);
            Thread.ofVirtual().start(run);
            run.get();
            assertEquals(allowed(), masks[0]);
            team.run(thread -> masks[thread] = allowed());
            assertNotEquals(allowed(), masks[0]);
        }
    }

    @Test
    void moreThreadsThanProcessorsAreNotPinned() {
        requireLinux();
        int processors = processors();
        BackendException e =
                assertThrows(BackendException.class, () -> new CpuPinning(new Affinity(OS), processors + 1));
        assertTrue(e.getMessage().contains("more threads (" + (processors + 1) + ")"), e.getMessage());
        assertEquals(Optional.empty(), CpuPinning.of(Map.of(CpuPinning.PIN.name(), "true"), processors + 1));
    }

    @Test
    void anotherSystemIsNamed() {
        BackendException e = assertThrows(BackendException.class, () -> new Affinity("Mac OS X"));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("Mac OS X"), e.getMessage());
    }

    @Test
    void theSettingIsOffByDefaultAndItsValueIsChecked() {
        assertEquals(Optional.empty(), CpuPinning.of(Map.of(), 1));
        assertEquals(Optional.empty(), CpuPinning.of(Map.of(CpuPinning.PIN.name(), "false"), 1));
        TenonException e =
                assertThrows(TenonException.class, () -> CpuPinning.of(Map.of(CpuPinning.PIN.name(), "maybe"), 1));
        assertEquals(ErrorCode.CONFIG, e.code());
        assertTrue(e.getMessage().contains("'maybe'"), e.getMessage());
    }

    @Test
    void anOpenDeviceTellsWhereItsThreadsAre() {
        requireLinux();
        DeviceOptions options = DeviceOptions.builder()
                .threads(1)
                .settings(Map.of(CpuPinning.PIN.name(), " TRUE "))
                .build();
        try (Device device = new CpuVectorBackend().open(options)) {
            int first = new CpuPinning(new Affinity(OS), 1).processors()[0];
            assertEquals("[" + first + "]", device.info().details().get("pinned-to"));
        }
    }

    @Test
    void eachCoreIsTakenOnceBeforeAnyIsTakenTwice() {
        assertArrayEquals(
                new int[] {0, 2, 6, 1, 3}, CpuPinning.byCore(new int[] {0, 1, 2, 3, 6}, cpu -> "core " + cpu / 2));
        assertArrayEquals(new int[] {2, 3, 7}, CpuPinning.byCore(new int[] {2, 3, 7}, cpu -> "cpu " + cpu));
    }
}
