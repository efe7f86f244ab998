package dev.tenon.backend.cpu.vector.op;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.itest.testkit.reference.PlainElements;
import dev.tenon.quant.formats.Q6_KFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Norms, gated activations and sums of a plan with a kernel that another bundle offers, beside those of the backend
/// itself.
class ElementKernelTests {
    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(3).build());
    private final AtomicInteger gates = new AtomicInteger();
    private final AtomicInteger norms = new AtomicInteger();
    private final AtomicInteger sums = new AtomicInteger();

    /// Counts its calls.
    private final class Counting extends PlainElements {
        private final boolean accepts;

        Counting(boolean accepts) {
            this.accepts = accepts;
        }

        @Override
        public boolean accepts(Activation activation) {
            return accepts;
        }

        @Override
        public void gate(
                Activation activation, int rows, int n, MemorySegment gate, MemorySegment up, long at, long stride) {
            gates.incrementAndGet();
            super.gate(activation, rows, n, gate, up, at, stride);
        }

        @Override
        public void norm(
                int rows, MemorySegment x, long xAt, MemorySegment weight, float eps, MemorySegment out, long outAt) {
            norms.incrementAndGet();
            super.norm(rows, x, xAt, weight, eps, out, outAt);
        }

        @Override
        public void add(int rows, int n, MemorySegment x, MemorySegment out, long at, long stride) {
            sums.incrementAndGet();
            super.add(rows, n, x, out, at, stride);
        }
    }

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private Plan plan(TinyModel model, List<KernelProvider> offered) {
        PlanOptions options =
                PlanOptions.builder(256).maxBatchTokens(128).maxSequences(2).build();
        return device.compiler()
                .compile(CompileRequest.builder(model.graph(), model.weights(), options)
                        .kernels(offered)
                        .build());
    }

    /// A prompt of 90 tokens, three tokens one by one, then nine at once.
    private static List<float[]> run(Plan plan) {
        List<float[]> all = new ArrayList<>();
        StepInput input = new StepInput();
        int next = 0;
        for (int count : new int[] {90, 1, 1, 1, 9}) {
            input.clear();
            input.addSequence(new int[] {1, 0});
            for (int t = next; t < next + count; t++) {
                input.addToken(t * 7 % TinyModel.VOCABULARY, t, true);
            }
            next += count;
            var result = plan.run(input);
            for (int r = 0; r < result.rows(); r++) {
                float[] row = new float[TinyModel.VOCABULARY];
                result.logits(r, row);
                all.add(row);
            }
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({"F32, false, true", "F32, true, true", "Q6_K, false, true", "Q6_K, true, false"})
    void anOfferedKernelGivesTheBitsOfTheBackendsOwn(String matrices, boolean qkNorm, boolean accepts) {
        QuantFormat format = matrices.equals("F32") ? TestWeights.F32 : new Q6_KFormat();
        TinyModel model = TinyModel.create(3, format, qkNorm);
        try (Plan own = plan(model, List.of());
                Plan other = plan(model, List.of(() -> List.of(new Counting(accepts))))) {
            List<float[]> expected = run(own);
            assertEquals(0, gates.get() + norms.get() + sums.get());
            List<float[]> got = run(other);
            assertEquals(accepts, gates.get() > 0);
            assertTrue(norms.get() > 0 && sums.get() > 0, norms + " norms, " + sums + " sums");
            assertEquals(expected.size(), got.size());
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), got.get(i), "row " + i);
            }
        }
    }
}
