package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.ffm.DriverCall;
import dev.tenon.backend.cuda.plan.CudaPlan;
import dev.tenon.kernels.nvidia.binding.CudaHandles;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Another bundle's library that computes products, and handles for code that calls one: on a stand-in for the driver.
@Timeout(600)
class LibraryTests {
    private static StandInDriver driver;

    @BeforeAll
    static void install() {
        driver = StandInDriver.install(new StandInDriver.Card("stand-in", 9, 0, 1L << 32));
    }

    @AfterEach
    void nothingIsLeftOver() {
        assertEquals(List.of(), driver.violations);
        assertEquals(Map.of(), driver.alive());
    }

    /// Notes what it is asked for.
    private static final class Noting implements CudaMatmul {
        final List<String> notes = new ArrayList<>();

        @Override
        public String name() {
            return "noting.f16";
        }

        @Override
        public String format() {
            return "F16";
        }

        @Override
        public long workspaceBytes() {
            return 1 << 20;
        }

        @Override
        public Launcher open(long context, long stream, long workspace) {
            notes.add("open");
            assertTrue(context != 0 && stream != 0 && workspace != 0, context + " " + stream + " " + workspace);
            return new Launcher() {
                @Override
                public void launch(long x, long weight, long out, int rows, int inputs, int outputs) {
                    assertTrue(x != 0 && weight != 0 && out != 0, x + " " + weight + " " + out);
                    notes.add(rows + " x " + inputs + " x " + outputs);
                }

                @Override
                public void close() {
                    notes.add("close");
                }
            };
        }
    }

    private static Device open() {
        return new CudaBackend(List.of())
                .open(DeviceOptions.builder()
                        .settings(Map.of(KernelLoader.KERNELS, "prebuilt"))
                        .build());
    }

    private static StepInput prompt() {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        for (int i = 0; i < 8; i++) {
            input.addToken(i + 1, i, i == 7);
        }
        return input;
    }

    @Test
    void itsProductsAreCapturedOnceWithTheStepThatHasManyRows() {
        Noting library = new Noting();
        try (Device device = open();
                Plan plan =
                        device.compiler().compile(SmallModel.request(64, Map.of(), List.of(() -> List.of(library))))) {
            plan.run(prompt());
            List<String> once = List.of("open", "8 x 64 x 64", "8 x 64 x 64", "8 x 64 x 64", "8 x 64 x 64");
            assertEquals(once, library.notes);
            plan.run(prompt()); // another graph: nobody has read the logits of the first step
            int captured = library.notes.size();
            int launched = driver.count(DriverCall.cuGraphLaunch);
            plan.run(prompt());
            plan.run(SmallModel.step());
            assertEquals(captured, library.notes.size(), "a captured graph is launched again without the library");
            assertEquals(launched + 2, driver.count(DriverCall.cuGraphLaunch));
        }
        assertEquals("close", library.notes.getLast());
    }

    @Test
    void withoutGraphsItLaunchesInEachStep() {
        Noting library = new Noting();
        try (Device device = open();
                Plan plan = device.compiler()
                        .compile(SmallModel.request(
                                64, Map.of(CudaPlan.GRAPHS, "off"), List.of(() -> List.of(library))))) {
            plan.run(prompt());
            plan.run(prompt());
            assertEquals(1 + 2 * 4, library.notes.size(), library.notes.toString());
        }
    }

    @Test
    void handlesOfADeviceAndOfItsBuffersAreTheDrivers() {
        try (Device device = open();
                DeviceBuffer buffer = device.allocator().allocate(4096, "test")) {
            CudaHandles handles = CudaHandles.of(device);
            assertTrue(handles.context() != 0 && handles.stream() != 0);
            assertTrue(CudaHandles.address(buffer) != 0);
            handles.enter();
            handles.synchronize();
            assertThrows(
                    IllegalArgumentException.class,
                    () -> CudaHandles.address((DeviceBuffer) Proxy.newProxyInstance(
                            getClass().getClassLoader(), new Class<?>[] {DeviceBuffer.class}, (self, m, a) -> 1L)));
        }
    }
}
