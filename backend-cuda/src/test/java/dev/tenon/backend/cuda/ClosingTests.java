package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.ffm.DriverCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What is given back when a plan or device is closed, and when: on a stand-in for the driver.
@Timeout(600)
class ClosingTests {
    private static StandInDriver driver;

    @BeforeAll
    static void install() {
        driver = StandInDriver.install(new StandInDriver.Card("stand-in", 9, 0, 1L << 32));
    }

    @AfterEach
    void nothingIsLeftOver() {
        driver.failing.clear();
        assertEquals(List.of(), driver.violations);
        assertEquals(Map.of(), driver.alive());
    }

    private static Device open() {
        return new CudaBackend()
                .open(DeviceOptions.builder()
                        .settings(Map.of(KernelLoader.KERNELS, "prebuilt"))
                        .build());
    }

    @Test
    void aClosedPlanAndDeviceLeaveNothing() {
        try (Device device = open();
                Plan plan = device.compiler().compile(SmallModel.request(64))) {
            assertEquals(1, plan.run(SmallModel.step()).rows());
            plan.close();
            BackendException e = assertThrows(BackendException.class, () -> plan.run(SmallModel.step()));
            assertEquals(ErrorCode.CLOSED, e.code());
            e = assertThrows(BackendException.class, () -> plan.kvPages().copy(0, 0));
            assertEquals(ErrorCode.CLOSED, e.code());
        }
    }

    @Test
    void whatAFailedStepLeftUnderWayIsWaitedFor() {
        try (Device device = open();
                Plan plan = device.compiler().compile(SmallModel.request(64))) {
            driver.failing.add(DriverCall.cuStreamSynchronize);
            assertThrows(BackendException.class, () -> plan.run(SmallModel.step()));
            driver.failing.clear();
        }
    }

    @Test
    void whatCannotBeClosedDoesNotKeepTheRest() {
        Device device = open();
        Plan plan = device.compiler().compile(SmallModel.request(64));
        plan.run(SmallModel.step());
        Map<String, Integer> before = driver.alive();
        driver.failing.add(DriverCall.cuMemFreeHost);
        BackendException e = assertThrows(BackendException.class, plan::close);
        assertTrue(e.getMessage().contains("cuMemFreeHost"), e.getMessage());
        assertTrue(e.getSuppressed().length > 0, "the other host memory failed, too");
        Map<String, Integer> after = driver.alive();
        assertEquals(before.get("host memory"), after.get("host memory"));
        assertEquals(null, after.get("memory"));
        assertEquals(null, after.get("executable graph"));
        assertEquals(1, after.get("stream"));
        driver.failing.clear();
        driver.forgetHostMemory();
        device.close();
    }

    @Test
    void aPlanThatCannotBeMadeLeavesNothing() {
        for (DriverCall call : List.of(
                DriverCall.cuMemAllocHost_v2,
                DriverCall.cuMemAlloc_v2,
                DriverCall.cuModuleLoadDataEx,
                DriverCall.cuEventCreate,
                DriverCall.cuMemcpyHtoDAsync_v2)) {
            try (Device device = open()) {
                driver.failing.add(call);
                assertThrows(
                        BackendException.class, () -> device.compiler().compile(SmallModel.request(64)), call.name());
                driver.failing.clear();
            }
            assertEquals(Map.of(), driver.alive(), call.name());
        }
    }

    @Test
    void aSinkCannotCloseItsPlanNorRunIt() {
        try (Device device = open();
                Plan plan = device.compiler().compile(SmallModel.request(64))) {
            List<int[]> heard = new ArrayList<>();
            plan.generator().orElseThrow().generate(SmallModel.step(), List.of(TokenSampling.GREEDY), 5, tokens -> {
                heard.add(tokens.clone());
                assertThrows(IllegalStateException.class, plan::close);
                assertThrows(IllegalStateException.class, () -> plan.run(SmallModel.step()));
                assertThrows(IllegalStateException.class, () -> plan.kvPages().copy(0, 0));
                return true;
            });
            assertEquals(5, heard.size());
            plan.run(SmallModel.step());
        }
    }

    @Test
    void aDeviceThatIsClosedFirstTakesItsPlansAlong() {
        Device device = open();
        Plan plan = device.compiler().compile(SmallModel.request(64));
        plan.run(SmallModel.step());
        device.close();
        BackendException e = assertThrows(BackendException.class, () -> plan.run(SmallModel.step()));
        assertEquals(ErrorCode.CLOSED, e.code());
        plan.close();
    }

    @Test
    void pagesAreCopiedBetweenSteps() throws Exception {
        try (Device device = open();
                Plan plan = device.compiler().compile(SmallModel.request(128))) {
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch inside = new CountDownLatch(1);
            FutureTask<Void> generates = new FutureTask<>(
                    () -> plan.generator()
                            .orElseThrow()
                            .generate(SmallModel.step(), List.of(TokenSampling.GREEDY), 2, tokens -> {
                                inside.countDown();
                                try {
                                    go.await();
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                                return true;
                            }),
                    null);
            Thread.ofPlatform().start(generates);
            while (!inside.await(50, TimeUnit.MILLISECONDS)) {
                if (generates.isDone()) {
                    generates.get(); // throws why
                    throw new AssertionError("the generation ended without a token");
                }
            }
            int before = driver.count(DriverCall.cuMemcpyDtoDAsync_v2);
            FutureTask<Void> copies = new FutureTask<>(() -> plan.kvPages().copy(0, 1), null);
            Thread copier = Thread.ofPlatform().start(copies);
            while (copier.isAlive() && copier.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            int meanwhile = driver.count(DriverCall.cuMemcpyDtoDAsync_v2);
            go.countDown();
            copies.get();
            generates.get();
            assertEquals(before, meanwhile, "copied while a generation was under way");
            assertEquals(before + 2, driver.count(DriverCall.cuMemcpyDtoDAsync_v2));
        }
    }
}
