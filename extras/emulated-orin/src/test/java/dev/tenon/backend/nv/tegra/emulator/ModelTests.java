package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatedProcess;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Small models on one board: several processes, failures. Oracle: belief
/// in what the kernel keeps and takes back; numbers are compared with each other.
class ModelTests {
    /// A board that outlives its devices, as a real one does.
    static final class Machine implements AutoCloseable {
        final EmulatedOrin orin;

        Machine(EmulatorOptions options) {
            orin = new EmulatedOrin(options);
        }

        Device open(Syscalls calls, String... settings) {
            Map<String, String> all = new HashMap<>(Map.of("nv-tegra.kernels", "stand-ins"));
            for (int i = 0; i < settings.length; i += 2) {
                all.put(settings[i], settings[i + 1]);
            }
            Backend backend = new NvTegraBackend(LinuxSyscalls::new, List.of(provider(() -> calls)), List.of());
            return backend.open(
                    DeviceOptions.builder().deviceId("shared").settings(all).build());
        }

        private BoardProvider provider(Supplier<Syscalls> calls) {
            return new BoardProvider() {
                @Override
                public String id() {
                    return "shared";
                }

                @Override
                public String description() {
                    return "the test's board";
                }

                @Override
                public Board open(Map<String, String> settings) {
                    Syscalls system = calls.get();
                    return new Board() {
                        @Override
                        public Syscalls calls() {
                            return system;
                        }

                        @Override
                        public void loads(byte[] cubin) {
                            orin.loads(cubin);
                        }

                        @Override
                        public Optional<byte[]> standIn(String kernel, List<Integer> parameterBytes) {
                            return orin.standIn(kernel, parameterBytes);
                        }

                        @Override
                        public void close() {
                            // The machine stays.
                        }
                    };
                }
            };
        }

        @Override
        public void close() {
            assertEquals(List.of(), orin.board().open());
            assertEquals(List.of(), orin.board().dmesg());
            orin.close();
        }
    }

    static Model model() {
        return RandomModels.llamaLike(3, TestFormats.F32, Shape.smallFor(TestFormats.F32));
    }

    static int[] tokens(int count) {
        return IntStream.range(0, count).map(i -> (7 * i + 3) % 60).toArray();
    }

    static float[][] run(Device device, Model model, int count, int chunk) {
        try (PlanDriver driver = new PlanDriver(device, model, Settings.of(16, 2, count))) {
            return driver.feed(driver.open(), tokens(count), chunk);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void launchesThatAreDeferredAndShuffledGiveTheSame(long seed) {
        float[][] expected;
        try (Machine machine = new Machine(EmulatorOptions.orin());
                Model model = model();
                Device device = machine.open(machine.orin.board())) {
            expected = run(device, model, 20, 5);
        }
        try (Machine machine = new Machine(
                        EmulatorOptions.orin().withDeferredLaunches(seed).withThread());
                Model model = model();
                Device device = machine.open(machine.orin.board())) {
            float[][] got = run(device, model, 20, 5);
            for (int t = 0; t < got.length; t++) {
                assertArrayEquals(expected[t], got[t], "token " + t);
            }
        }
    }

    @Test
    void twoProcessesTakeTurnsWithoutDisturbingEachOther() {
        try (Machine machine = new Machine(EmulatorOptions.orin());
                Model model = model();
                Device first = machine.open(machine.orin.board().process());
                Device second = machine.open(machine.orin.board().process());
                PlanDriver a = new PlanDriver(first, model, Settings.of(16, 1, 40));
                PlanDriver b = new PlanDriver(second, model, Settings.of(16, 1, 40))) {
            PlanDriver.Sequence inA = a.open();
            PlanDriver.Sequence inB = b.open();
            for (int step = 0; step < 20; step++) {
                int[] token = {(5 * step + 1) % 60};
                assertArrayEquals(a.step(new Chunk(inA, token, true))[0], b.step(new Chunk(inB, token, true))[0]);
            }
        }
    }

    /// The GPU stands still while one of two processes has work on it, which is then killed.
    @Test
    void nothingIsLeftOfAProcessThatWasKilledInTheMiddle() {
        try (Machine machine = new Machine(EmulatorOptions.orin());
                Model model = model();
                Device second = machine.open(machine.orin.board().process())) {
            float[][] expected = run(second, model, 10, 1);
            List<String> before = machine.orin.board().open();
            EmulatedProcess process = machine.orin.board().process();
            Device first = machine.open(process, "nv-tegra.timeout-ms", "20");
            PlanDriver driver = new PlanDriver(first, model, Settings.of(16, 1, 40));
            PlanDriver.Sequence sequence = driver.open();
            driver.step(new Chunk(sequence, tokens(3), true));
            machine.orin.board().faults().hang(true);
            Chunk next = new Chunk(sequence, tokens(3), true);
            BackendException e = assertThrows(BackendException.class, () -> driver.step(next));
            assertEquals(NvErrors.FAULT, e.code());
            process.kill();
            machine.orin.board().faults().hang(false);
            assertEquals(before, machine.orin.board().open());
            assertArrayEquals(expected[9], run(second, model, 10, 1)[9]);
        }
    }

    /// fault_k for a model: each call fails once, from opening to the first step. Oracle: belief.
    @ParameterizedTest
    @ValueSource(ints = {Linux.ENOMEM, Linux.EINVAL, Linux.EMFILE})
    void whicheverCallFailsTheModelLeavesNothing(int errno) {
        try (Machine machine = new Machine(EmulatorOptions.orin());
                Model model = model()) {
            machine.orin.board().faults().failCall(-1, 0);
            openAndStep(machine, model);
            int count = machine.orin.board().faults().calls().size();
            assertTrue(count > 100, count + " calls");
            int failed = 0;
            for (int k = 0; k < count; k += 3) {
                machine.orin.board().faults().failCall(k, errno);
                try {
                    openAndStep(machine, model);
                } catch (TenonException e) {
                    failed++;
                }
                assertEquals(List.of(), machine.orin.board().open(), "after call " + k + " failed");
            }
            machine.orin.board().faults().failCall(-1, 0);
            assertTrue(failed > count / 4, failed + " of " + count + " failures were reported");
            openAndStep(machine, model);
        }
    }

    private static void openAndStep(Machine machine, Model model) {
        try (Device device = machine.open(machine.orin.board());
                PlanDriver driver = new PlanDriver(device, model, Settings.of(1, 1, 8))) {
            driver.step(new Chunk(driver.open(), tokens(1), true));
        }
    }
}
