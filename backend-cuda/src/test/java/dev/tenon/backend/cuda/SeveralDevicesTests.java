package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.backend.cuda.device.KernelLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Choosing among devices, and using two of them at once: on a stand-in for the driver.
@Timeout(600)
class SeveralDevicesTests {
    private static StandInDriver driver;

    @BeforeAll
    static void install() {
        driver = StandInDriver.install(
                new StandInDriver.Card("old", 7, 5, 1L << 32),
                new StandInDriver.Card("large", 9, 0, 1L << 32),
                new StandInDriver.Card("small", 8, 0, 200L << 20));
    }

    @AfterEach
    void nothingIsLeftOver() {
        assertEquals(List.of(), driver.violations);
        assertEquals(Map.of(), driver.alive());
    }

    private static Device open(String id) {
        return new CudaBackend()
                .open(DeviceOptions.builder()
                        .deviceId(id)
                        .settings(Map.of(KernelLoader.KERNELS, "prebuilt"))
                        .build());
    }

    private static String nameOf(String id) {
        try (Device device = open(id)) {
            return device.info().name();
        }
    }

    @Test
    void onlyDevicesThatAreNewEnoughAreListed() {
        assertTrue(new CudaBackend().probe().available());
        assertEquals(
                List.of("1 large", "2 small"),
                new CudaBackend()
                        .devices().stream().map(d -> d.id() + " " + d.name()).toList());
    }

    @Test
    void aDeviceIsChosenByIndexOrUuid() {
        assertEquals("large", nameOf(""));
        assertEquals("small", nameOf("2"));
        DeviceInfo small = new CudaBackend().devices().getLast();
        String uuid = small.details().get("uuid");
        assertEquals("small", nameOf(uuid));
        assertEquals("small", nameOf(uuid.toUpperCase(Locale.ROOT)));
        assertEquals("small", nameOf(uuid.substring("GPU-".length())));
    }

    @Test
    void whatIsNoDeviceIsRefusedWithThoseThatAre() {
        for (String id : List.of("3", "-1", "02", "1,2", "GPU-00000000-0000-0000-0000-000000000000", "GPU-", "cuda")) {
            BackendException e = assertThrows(BackendException.class, () -> open(id), id);
            assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
            assertTrue(e.getMessage().contains("no device '" + id + "'"), e.getMessage());
            assertTrue(e.getMessage().contains("it has 1 (GPU-"), e.getMessage());
            assertTrue(e.getMessage().contains("2 (GPU-"), e.getMessage());
            assertTrue(e.getMessage().contains("--device"), e.getMessage());
            assertFalse(e.getMessage().contains("0 (GPU-"), e.getMessage());
        }
    }

    @Test
    void aDeviceThatIsTooOldIsRefusedWithItsCapability() {
        BackendException e = assertThrows(BackendException.class, () -> open("0"));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("old (compute capability 7.5)"), e.getMessage());
    }

    /// The stand-in notes everything that is used in the context of the other device.
    @Test
    void twoDevicesRunModelsAtTheSameTime() throws Exception {
        try (Device large = open("1");
                Device small = open("2");
                Plan left = large.compiler().compile(SmallModel.request(128));
                Plan right = small.compiler().compile(SmallModel.request(128));
                var threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Plan first = i % 2 == 0 ? left : right;
                Plan second = i % 2 == 0 ? right : left;
                all.add(threads.submit((Callable<Void>) () -> {
                    for (int step = 0; step < 50; step++) {
                        first.run(SmallModel.step()).logits(0, new float[32]);
                        second.run(SmallModel.step());
                        first.kvPages().copy(0, 1);
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
            assertTrue(large.allocator().use().allocatedBytes() > 0);
            left.close();
            assertEquals(0, large.allocator().use().allocatedBytes());
            right.run(SmallModel.step());
        }
    }

    @Test
    void aFullDeviceLeavesTheOtherOneAlone() {
        try (Device large = open("1");
                Device small = open("2");
                Plan plan = large.compiler().compile(SmallModel.request(64))) {
            OutOfResourcesException e = assertThrows(
                    OutOfResourcesException.class, () -> small.compiler().compile(SmallModel.request(4_000_000)));
            assertEquals(ErrorCode.MEMORY, e.code());
            assertEquals(0, small.allocator().use().allocatedBytes());
            plan.run(SmallModel.step());
            try (Plan fits = small.compiler().compile(SmallModel.request(64))) {
                fits.run(SmallModel.step());
            }
        }
    }
}
