package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.itest.testkit.Closeness;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.OpReference;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.itest.testkit.reference.ReferenceOps;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// An op on single elements is a record, a row of the backend and a row of the reference: this one stands here alone.
class AddedOpTests {
    private static final int[] TOKENS = {5, 36, 0, 17, 4, 4, 31};

    /// `x`, kept within `[-limit, limit]`.
    private record Clip(Value x, float limit, Value out) implements PartOp {
        @Override
        public String kind() {
            return "clip";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }

    private static final OpRow<Clip> ROW = ElementRows.elements(Clip.class, (clip, to) -> (x, _, out, from, until) -> {
        for (int i = from; i < until; i++) {
            out[i] = Math.clamp(x[i], -clip.limit, clip.limit);
        }
    });
    private static final OpReference<Clip> REFERENCE = OpReference.row(
            Clip.class,
            (clip, in, step, t) -> Arrays.stream(in[0])
                    .map(x -> Math.min(Math.max(x, -clip.limit), clip.limit))
                    .toArray());

    private final CpuThreads threads = new CpuThreads(2);

    @AfterEach
    void stopThreads() {
        threads.close();
    }

    /// A device that runs the ops of a table.
    private record Rows(CpuAllocator allocator, CpuCompiler compiler) implements Device {
        @Override
        public DeviceInfo info() {
            return new DeviceInfo("cpu", "rows of a test", KernelSet.KIND, 1L << 30, Map.of());
        }

        @Override
        public void close() {
            // Its threads are the test's.
        }
    }

    private Device device(CpuOps ops) {
        CpuAllocator allocator = new CpuAllocator(1L << 30);
        return new Rows(allocator, new CpuCompiler(allocator, threads, new KernelSet(false), ops));
    }

    private static Model model() {
        return RandomModels.ops("clipped", 3, 32, TestFormats.F32, (b, x) -> {
            Value clipped = b.value("clipped", 32);
            b.add(new Clip(x, 0.5f, clipped));
            return b.linear("y", clipped, new Weight("y.weight", 32, 16), Optional.empty());
        });
    }

    @Test
    void aRecordAndTwoRowsAreEnough() {
        try (Model model = model()) {
            Device device = device(CpuOps.ALL.with(ROW));
            Clip clip = (Clip) model.graph().ops().get(1);
            Support support = device.compiler().supports(clip, model.weights(), List.of());
            assertEquals(new Support(Support.Level.FAST, "float32 kernel clip"), support);
            ReferenceOps ops = ReferenceOps.ALL.with(REFERENCE);
            double[][] expected = new Reference(model.graph(), model.weights(), ops)
                    .newSequence()
                    .feed(TOKENS);
            for (boolean fuse : new boolean[] {false, true}) {
                try (PlanDriver driver =
                        new PlanDriver(device, model, Settings.of(8, 1, 8).withFuse(fuse))) {
                    Closeness.assertClose(
                            "clipped", expected, driver.step(new Chunk(driver.open(), TOKENS, true)), 1e-5);
                    PlanReport.Kernel kernel = driver.plan().report().kernels().get(1);
                    assertEquals(new PlanReport.Kernel("clip", "clipped", "f32.java", Support.Level.FAST), kernel);
                }
            }
        }
    }

    @Test
    void withoutARowItIsRefusedByName() {
        try (Model model = model()) {
            Device device = device(CpuOps.ALL);
            CompileRequest request = Settings.of(8, 1, 8).request(model, 8);
            UnsupportedModelException refused = assertThrows(
                    UnsupportedModelException.class, () -> device.compiler().compile(request));
            assertTrue(refused.getMessage().contains("op clip (" + Clip.class.getName()), refused.getMessage());
            IllegalArgumentException unknown =
                    assertThrows(IllegalArgumentException.class, () -> new Reference(model.graph(), model.weights()));
            assertTrue(unknown.getMessage().contains("op clip"), unknown.getMessage());
        }
    }

    @Test
    void aClassHasOneRow() {
        assertThrows(IllegalArgumentException.class, () -> CpuOps.ALL.with(ROW).with(ROW));
        assertThrows(
                IllegalArgumentException.class,
                () -> ReferenceOps.ALL.with(REFERENCE).with(REFERENCE));
    }
}
