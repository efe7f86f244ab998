package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.ffm.DriverCall;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaBindingProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Another bundle's binding of the driver: selected by its name, and then used for every call. The driver is a
/// stand-in.
@Timeout(600)
class BindingTests {
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

    /// Counts calls, and lets the backend's own binding make them.
    private static final class Counting implements CudaBindingProvider {
        final Map<String, Integer> calls = new ConcurrentHashMap<>();

        @Override
        public String name() {
            return "jcuda";
        }

        @Override
        public CudaBinding open(CudaBinding own) {
            return (CudaBinding) Proxy.newProxyInstance(
                    CudaBinding.class.getClassLoader(),
                    new Class<?>[] {CudaBinding.class},
                    (self, method, arguments) -> {
                        if (method.getName().equals("name")) {
                            return name();
                        }
                        calls.merge(method.getName(), 1, Integer::sum);
                        try {
                            return method.invoke(own, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    private static DeviceOptions options(String binding) {
        return DeviceOptions.builder()
                .settings(Map.of(KernelLoader.KERNELS, "prebuilt", CudaSettings.BINDING, binding))
                .build();
    }

    @Test
    void everyCallOfADeviceGoesThroughItsBinding() {
        Counting counting = new Counting();
        Map<DriverCall, Integer> before = new HashMap<>(driver.calls);
        try (Device device = new CudaBackend(List.of(counting)).open(options("jcuda"));
                Plan plan = device.compiler().compile(SmallModel.request(128))) {
            assertEquals("jcuda", device.info().details().get("binding"));
            plan.run(SmallModel.step());
            plan.kvPages().copy(0, 1);
            plan.profiler().orElseThrow().start();
            plan.run(SmallModel.step());
            plan.profiler().orElseThrow().stop();
        }
        // What finds the device, before it is opened, is called by the backend's own binding.
        Set<String> finding = Set.of(
                "cuInit",
                "cuDriverGetVersion",
                "cuDeviceGetCount",
                "cuDeviceGet",
                "cuDeviceGetName",
                "cuDeviceGetUuid_v2",
                "cuDeviceGetAttribute",
                "cuDeviceTotalMem_v2");
        int reached = 0;
        Set<String> used = new TreeSet<>();
        for (Map.Entry<DriverCall, Integer> call : driver.calls.entrySet()) {
            int times = call.getValue() - before.getOrDefault(call.getKey(), 0);
            if (!finding.contains(call.getKey().name()) && times > 0) {
                reached += times;
                used.add(call.getKey().name());
            }
        }
        int asked = counting.calls.entrySet().stream()
                .filter(call -> !call.getKey().equals("device"))
                .mapToInt(Map.Entry::getValue)
                .sum();
        assertTrue(used.size() > 20, used.toString());
        assertEquals(asked, reached, counting.calls + " against " + used);
    }

    @Test
    void theBackendsOwnBindingIsTheDefault() {
        Counting counting = new Counting();
        try (Device device = new CudaBackend(List.of(counting))
                .open(DeviceOptions.builder()
                        .settings(Map.of(KernelLoader.KERNELS, "prebuilt"))
                        .build())) {
            assertEquals("ffm", device.info().details().get("binding"));
        }
        assertEquals(Map.of(), counting.calls);
        assertTrue(new CudaBackend(List.of(counting)).probe().reason().endsWith("bindings: ffm, jcuda"));
    }

    @Test
    void aBindingThatNoBundleOffersIsRefusedWithWhatToInstall() {
        BackendException e =
                assertThrows(BackendException.class, () -> new CudaBackend(List.of()).open(options("jcuda")));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("cuda.binding is 'jcuda'"), e.getMessage());
        assertTrue(e.getMessage().contains("tenon bundles install"), e.getMessage());
        assertTrue(e.getMessage().length() < 200, e.getMessage());
    }

    @Test
    void aBindingThatCannotBeLoadedSaysWhy() {
        CudaBindingProvider broken = new CudaBindingProvider() {
            @Override
            public String name() {
                return "jcuda";
            }

            @Override
            public CudaBinding open(CudaBinding own) {
                throw new BackendException(ErrorCode.BACKEND_UNAVAILABLE, "not on this machine");
            }
        };
        BackendException e =
                assertThrows(BackendException.class, () -> new CudaBackend(List.of(broken)).open(options("jcuda")));
        assertTrue(e.getMessage().startsWith("not on this machine"), e.getMessage());
    }
}
