package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The CPU backend, found by `ServiceLoader` in the finished jar, keeps the backend contract in every
/// format.
class OurCpuBackendIT extends BackendContract {
    /// The formats that have a kernel of their own.
    private static final Set<String> FAST = Set.of("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q4_K");

    @Override
    protected Backend backend() {
        return ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(b -> b.id().equals("cpu-vector"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no backend cpu-vector"));
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return new TreeMap<>(OurFormatsIT.all())
                .values().stream().filter(TestFormats::holdsWeights).toList();
    }

    @Override
    protected boolean mustBeAvailable() {
        return true;
    }

    /// The contract's models have heads of 16 elements, which no block of Q8_0 fits: there, Q8_0 is refused.
    /// [#aQ8CacheKeepsItsPrecision()] has longer heads.
    @Override
    protected Set<PlanOptions.KvType> kvTypes() {
        return Set.of(PlanOptions.KvType.F32, PlanOptions.KvType.F16);
    }

    @Override
    protected DeviceOptions deviceOptions() {
        return DeviceOptions.builder().threads(2).build();
    }

    @Test
    void aQ8CacheKeepsItsPrecision() {
        QuantFormat f32 = new TreeMap<>(OurFormatsIT.all()).get("F32");
        RandomModels.Shape shape = new RandomModels.Shape(2, 64, 4, 2, 64, 96, 67);
        int[] tokens = new Random(8).ints(45, 0, shape.vocabularySize()).toArray();
        try (RandomModels.Model model = RandomModels.llamaLike(1, f32, shape)) {
            float[][] exact = feed(model, tokens, PlanOptions.KvType.F32);
            float[][] got = feed(model, tokens, PlanOptions.KvType.Q8_0);
            double error = 0;
            double size = 0;
            for (int t = 0; t < tokens.length; t++) {
                for (int i = 0; i < shape.vocabularySize(); i++) {
                    error += Math.pow(got[t][i] - exact[t][i], 2);
                    size += Math.pow(exact[t][i], 2);
                }
            }
            double relative = Math.sqrt(error / size);
            assertTrue(
                    relative > 0 && relative < kvTolerance(PlanOptions.KvType.Q8_0),
                    "relative error " + relative + " of a Q8_0 cache against F32");
        }
    }

    private float[][] feed(RandomModels.Model model, int[] tokens, PlanOptions.KvType type) {
        PlanDriver.Settings settings =
                PlanDriver.Settings.of(16, 1, tokens.length).withKvType(type);
        try (PlanDriver driver = new PlanDriver(device(), model, settings)) {
            return driver.feed(driver.open(), tokens, 16);
        }
    }

    @TestFactory
    Stream<DynamicTest> theFirstFormatsRunOnFastKernelsAndALayerTakesFive() {
        return formats().stream()
                .filter(format -> FAST.contains(format.id()))
                .map(format -> DynamicTest.dynamicTest(format.id(), () -> {
                    RandomModels.Shape shape = RandomModels.Shape.smallFor(format);
                    try (RandomModels.Model model = RandomModels.qwen3Like(1, format, shape);
                            PlanDriver driver = new PlanDriver(device(), model, PlanDriver.Settings.of(8, 1, 8))) {
                        Plan plan = driver.plan();
                        List<PlanReport.Kernel> steps = plan.report().kernels();
                        assertTrue(
                                steps.size() <= 5 * shape.layers() + 4,
                                steps.size() + " steps for " + shape.layers() + " layers: " + steps);
                        List<PlanReport.Kernel> slow = steps.stream()
                                .filter(s -> s.op().contains("linear") || s.op().contains("norm_"))
                                .filter(s -> s.level() != Support.Level.FAST)
                                .toList();
                        assertEquals(List.of(), slow, "steps without a fast kernel");
                    }
                }));
    }
}
