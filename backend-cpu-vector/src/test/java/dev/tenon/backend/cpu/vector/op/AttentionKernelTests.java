package dev.tenon.backend.cpu.vector.op;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.itest.testkit.reference.PlainAttention;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Attention of a plan with a kernel that another bundle offers, beside that of the backend itself.
class AttentionKernelTests {
    private static final int VOCABULARY = 50;

    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(3).build());
    private final TestWeights weights = new TestWeights();
    private final Random random = new Random(5);
    private final AtomicInteger calls = new AtomicInteger();
    private final List<KernelProvider> offered =
            List.of(() -> Stream.of(KvType.values()).<Kernel>map(Counting::new).toList());

    /// Counts its calls.
    private final class Counting extends PlainAttention {
        Counting(KvType type) {
            super(type);
        }

        @Override
        public long scratchBytes(int keyLength, int valueLength) {
            return 128;
        }

        @Override
        public void attend(
                MemorySegment page,
                long keysAt,
                long valuesAt,
                int keyLength,
                int valueLength,
                AttentionRows rows,
                MemorySegment scratch) {
            calls.incrementAndGet();
            scratch.asSlice(0, 128).fill((byte) 1);
            super.attend(page, keysAt, valuesAt, keyLength, valueLength, rows, scratch);
        }
    }

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private Weight table(String name, int width) {
        Weight weight = new Weight(name, width, VOCABULARY);
        weights.put(weight, TestWeights.F32, TestWeights.random(random, weight));
        return weight;
    }

    private Graph graph(int heads, int headsKv, int size, int window, float cap) {
        GraphBuilder b = new GraphBuilder("attention");
        Value q = b.embedding("q", table("tq", heads * size));
        Value k = b.embedding("k", table("tk", headsKv * size));
        Value v = b.embedding("v", table("tv", headsKv * size));
        Value out = b.value("out", heads * size);
        b.add(new CoreOp.Attention(
                q,
                k,
                v,
                0,
                AttentionParams.builder(heads, headsKv, 0.9f)
                        .slidingWindow(window)
                        .softCap(cap)
                        .build(),
                out));
        return b.build(b.selectRows("s", out));
    }

    private Plan plan(Graph graph, KvType type, List<KernelProvider> offered) {
        PlanOptions options = PlanOptions.builder(384)
                .maxBatchTokens(128)
                .maxSequences(2)
                .keyType(type)
                .valueType(type)
                .build();
        return device.compiler()
                .compile(CompileRequest.builder(graph, weights, options)
                        .kernels(offered)
                        .build());
    }

    /// A prompt of 90 tokens, 20 tokens one by one, a second sequence beside the first, 90 tokens more.
    private static List<float[]> run(Plan plan, int width) {
        int[][] pages = {{4, 0, 3, 1}, {5, 2}};
        List<float[]> all = new ArrayList<>();
        StepInput input = new StepInput();
        int next = 0;
        for (int step = 0; step < 24; step++) {
            int end = next + (step == 0 || step == 23 ? 90 : 1);
            input.clear();
            input.addSequence(pages[0]);
            for (int t = next; t < end; t++) {
                input.addToken(t * 7 % VOCABULARY, t, true);
            }
            if (step > 20) {
                input.addSequence(pages[1]);
                input.addToken(step, step - 21, true);
            }
            next = end;
            var result = plan.run(input);
            for (int r = 0; r < result.rows(); r++) {
                float[] row = new float[width];
                result.logits(r, row);
                all.add(row);
            }
        }
        return all;
    }

    private static String kernelName(Plan plan) {
        return plan.report().kernels().stream()
                .filter(step -> step.op().equals("attention"))
                .findFirst()
                .orElseThrow()
                .kernel();
    }

    @ParameterizedTest
    @CsvSource({
        "F16, 4, 4, 32, 0",
        "F16, 6, 2, 64, 0",
        "F32, 8, 2, 32, 0",
        "Q8_0, 4, 2, 32, 0",
        "F16, 4, 2, 64, 70",
        "F32, 2, 2, 32, 3"
    })
    void anOfferedKernelGivesTheBitsOfTheBackendsOwn(KvType type, int heads, int headsKv, int size, int window) {
        Graph graph = graph(heads, headsKv, size, window, 0);
        try (Plan own = plan(graph, type, List.of());
                Plan other = plan(graph, type, offered)) {
            assertTrue(kernelName(own).startsWith("attention."), kernelName(own));
            assertEquals(new PlainAttention(type).name(), kernelName(other));
            List<float[]> expected = run(own, heads * size);
            assertEquals(0, calls.get());
            List<float[]> got = run(other, heads * size);
            assertTrue(calls.get() > 0);
            assertEquals(expected.size(), got.size());
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), got.get(i), "row " + i);
            }
        }
    }

    @Test
    void cappedScoresAndLengthsThatAKernelRefusesStayWithTheBackend() {
        try (Plan capped = plan(graph(4, 2, 32, 0, 2), KvType.F16, offered);
                Plan odd = plan(graph(2, 2, 40, 0, 0), KvType.F16, offered)) {
            assertTrue(kernelName(capped).startsWith("attention."), kernelName(capped));
            assertTrue(kernelName(odd).startsWith("attention."), kernelName(odd));
            run(capped, 4 * 32);
            run(odd, 2 * 40);
            assertEquals(0, calls.get());
        }
    }
}
