package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import java.lang.System.Logger.Level;
import java.util.EnumSet;
import java.util.Set;

/// How far numbers may be off, by the kind of device.
///
/// Devices of kind `cpu` keep activations in float32. Those of kind `cuda` round them: to float16
/// in front of tensor cores, to 8 bits for quantised weights.
///
/// @param coarse whether activations are rounded
public record Tolerances(boolean coarse) {
    private static final System.Logger LOG = System.getLogger(Tolerances.class.getName());
    private static final Set<String> EXACT = Set.of("F32");
    private static final Set<String> HALF = Set.of("F16", "BF16", "TESTKIT_5");

    /// {@return what holds for a kind of device}
    ///
    /// @param kind as in [dev.tenon.api.device.DeviceInfo#kind()]
    public static Tolerances of(String kind) {
        return new Tolerances(!kind.equals("cpu"));
    }

    /// {@return the cache types that a device takes for a small model}
    ///
    /// @param device is asked to compile one with each
    public static Set<KvType> kvTypes(Device device) {
        Set<KvType> types = EnumSet.noneOf(KvType.class);
        try (Model model = RandomModels.llamaLike(1, TestFormats.F32, Shape.smallFor(TestFormats.F32))) {
            for (KvType type : KvType.values()) {
                PlanOptions options = PlanOptions.builder(1)
                        .maxBatchTokens(1)
                        .keyType(type)
                        .valueType(type)
                        .build();
                CompileRequest request = CompileRequest.of(model.graph(), model.weights(), options);
                try (Plan plan = device.compiler().compile(request)) {
                    types.add(type);
                } catch (UnsupportedModelException e) {
                    LOG.log(Level.DEBUG, "Cache type {0} is not offered: {1}", type, e.getMessage());
                }
            }
        }
        return types;
    }

    /// {@return the tolerance of a case with weights in float32}
    ///
    /// @param n terms of the longest sum
    public double exact(int n) {
        return (coarse ? 4e-5 : 1e-5) * Math.sqrt(n);
    }

    /// {@return the tolerance of a case with weights in a format}
    ///
    /// @param what the case
    /// @param format the format
    /// @param n terms of the longest sum
    public double of(String what, QuantFormat format, int n) {
        if (!coarse || EXACT.contains(format.id())) {
            return exact(n);
        }
        boolean model = what.startsWith("model");
        double one = HALF.contains(format.id()) ? (model ? 2e-2 : 5e-3) : (model ? 0.15 : 4e-2);
        // Two products after each other round twice, and independently.
        return what.startsWith("experts") ? Math.sqrt(2) * one : one;
    }
}
