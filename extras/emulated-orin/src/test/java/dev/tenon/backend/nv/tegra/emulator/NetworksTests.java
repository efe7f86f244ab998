package dev.tenon.backend.nv.tegra.emulator;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.Closeness;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// B6: whole small networks on the emulated Orin. Oracle: a float64 evaluation of the same graph. A
/// convolution is not among the ops of a graph, so that there is no CNN.
class NetworksTests {
    private static final QuantFormat F32 = TestFormats.F32;
    private static final int[] TOKENS = {3, 1, 4, 1, 5, 9, 2, 6};

    private static Value layers(GraphBuilder b, Value x, int count, int width) {
        Value y = x;
        for (int i = 0; i < count; i++) {
            Weight matrix = new Weight("layer" + i + ".weight", y.width(), width);
            Value sum = b.linear("layer" + i, y, matrix, Optional.of(Weight.vector("layer" + i + ".bias", width)));
            y = b.activate("act" + i, sum, i % 2 == 0 ? Activation.SILU : Activation.GELU_TANH);
        }
        return y;
    }

    private static void check(Model model, double tolerance) {
        NvTegraBackend backend = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
        DeviceOptions options = DeviceOptions.builder()
                .deviceId("emulated")
                .settings(Map.of("nv-tegra.kernels", "stand-ins"))
                .build();
        try (model;
                Device device = backend.open(options);
                PlanDriver driver = new PlanDriver(device, model, PlanDriver.Settings.of(8, 2, 64))) {
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(TOKENS);
            Closeness.assertClose(model.name(), expected, driver.feed(driver.open(), TOKENS, 1), tolerance);
            Closeness.assertClose(model.name(), expected, driver.feed(driver.open(), TOKENS, 8), tolerance);
        }
    }

    @Test
    void modelsMlp() {
        check(RandomModels.ops("mlp", 5, 64, F32, (b, x) -> layers(b, x, 2, 96)), 1e-4);
    }

    @Test
    void modelsTransformerBlock() {
        check(RandomModels.qwen3Like(6, F32, new Shape(1, 64, 4, 2, 16, 96, 67)), 1e-3);
    }

    @Test
    void modelsMlpOfTenLayers() {
        check(RandomModels.ops("ten layers", 7, 64, F32, (b, x) -> layers(b, x, 10, 64)), 1e-3);
    }
}
