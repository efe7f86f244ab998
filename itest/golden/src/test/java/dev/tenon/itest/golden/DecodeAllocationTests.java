package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.StateModels;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Decoding on the CPU backend with all kernels that are installed, machine code among them, leaves the heap alone:
/// no thread of the team allocates, whether one sequence is decoded or several, once the JIT compiler is done.
///
/// Long: C2 takes its time to compile all that a step runs.
@Tag("long")
class DecodeAllocationTests {
    /// No Java object is smaller; what a round of steps allocates below that a step is the counter's own.
    private static final int SMALLEST_OBJECT = 16;

    private static final int STEPS = 50;
    private static final int PROMPT = 300;
    private static final int TOKENS = 64;
    private static final int PAGES = (PROMPT + STEPS + TOKENS - 1) / TOKENS;
    /// Kernels take other ways for one, few and more tokens; from 24 on, machine code writes to the array of results
    /// itself.
    private static final int[] SEQUENCES = {1, 2, 8, 16, 32};

    private static final int MOST = 32;
    /// Until C2 has compiled everything; seconds on an idle machine.
    private static final long PATIENCE_NANOS = 300_000_000_000L;

    /// In place of a format: a model with states, in Q8_0.
    private static final String STATES = "states";
    /// A model with experts in the mixture.
    private static final String EXPERTS = "experts";
    /// In place of a format: latent attention, in Q8_0.
    private static final String LATENT = "latent";

    private static final RandomModels.Shape SHAPE = new RandomModels.Shape(2, 256, 4, 2, 64, 512, 300);
    /// Token ids that both models know.
    private static final int VOCABULARY = 41;

    private static final Map<String, QuantFormat> FORMATS = new HashMap<>();
    private static final ThreadMXBean COUNTER = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static Backend backend;
    private static List<KernelProvider> kernels;

    @BeforeAll
    static void find() {
        ServiceLoader.load(QuantFormat.class).forEach(format -> FORMATS.put(format.id(), format));
        backend = all(Backend.class)
                .filter(candidate -> candidate.id().equals("cpu-vector"))
                .findFirst()
                .orElseThrow();
        kernels = all(KernelProvider.class).toList();
    }

    private static <T> Stream<T> all(Class<T> service) {
        return ServiceLoader.load(service).stream().map(ServiceLoader.Provider::get);
    }

    static Stream<Arguments> cases() {
        return Stream.of("Q6_K", "Q4_K_M", "Q8_0", STATES, LATENT)
                .flatMap(format -> Stream.of(KvType.F16, KvType.Q8_0)
                        .flatMap(cache -> Stream.of(1, 2).map(threads -> Arguments.of(format, cache, threads))));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void aDecodedStepAllocatesNothingOnAnyThread(String format, KvType cache, int threads) {
        assumeTrue(COUNTER.isThreadAllocatedMemorySupported(), "this JVM does not count what threads allocate");
        Graph graph = graph(format);
        PlanOptions options = PlanOptions.builder(MOST * PAGES * TOKENS)
                .maxBatchTokens(PROMPT)
                .maxSequences(MOST)
                .keyType(cache)
                .valueType(cache)
                .build();
        try (MemoryWeights weights = RandomModels.weightsFor(graph, weight -> format(format, weight), 1);
                Device device =
                        backend.open(DeviceOptions.builder().threads(threads).build());
                Plan plan = device.compiler()
                        .compile(CompileRequest.builder(graph, weights, options)
                                .kernels(kernels)
                                .build())) {
            assumeTrue(
                    plan.report().kernels().stream()
                            .anyMatch(step -> step.kernel().contains(".avx")),
                    "no machine code here, by the processor or by setting: " + kernels);
            Map<Integer, Long> bytes = new TreeMap<>();
            long[] team = team(threads);
            int[][] pages = IntStream.range(0, MOST)
                    .mapToObj(s -> IntStream.range(s * PAGES, (s + 1) * PAGES).toArray())
                    .toArray(int[][]::new);
            StepInput input = new StepInput();
            for (int s = 0; s < MOST; s++) {
                input.clear();
                input.addSequence(pages[s], s);
                IntStream.range(0, PROMPT).forEach(t -> input.addToken(t % VOCABULARY, t, false));
                plan.run(input);
            }
            long end = System.nanoTime() + PATIENCE_NANOS;
            for (int sequences : SEQUENCES) {
                bytes.put(sequences, leastAllocation(plan, input, Arrays.copyOf(pages, sequences), team, end));
            }
            assertTrue(
                    bytes.values().stream().allMatch(least -> least < SMALLEST_OBJECT),
                    "bytes a step, by the number of sequences: " + bytes + "; the JIT compiler had "
                            + PATIENCE_NANOS / 1_000_000_000 + " s");
        }
    }

    /// {@return bytes a step in the best round: in the first one that allocated nothing, else in all until `end`}
    private static long leastAllocation(Plan plan, StepInput input, int[][] pages, long[] team, long end) {
        float[] logits = new float[Math.max(SHAPE.vocabularySize(), SHAPE.embeddingLength())];
        // A state goes on from where it is, or from the beginning.
        int first = plan.states().isPresent() ? 0 : PROMPT;
        long least = Long.MAX_VALUE;
        do {
            long before = allocated(team);
            for (int t = 0; t < STEPS; t++) {
                input.clear();
                for (int s = 0; s < pages.length; s++) {
                    input.addSequence(pages[s], s);
                    input.addToken(t % VOCABULARY, first + t, true);
                }
                plan.run(input).logits(0, logits);
            }
            least = Math.min(least, (allocated(team) - before) / STEPS);
        } while (least >= SMALLEST_OBJECT && System.nanoTime() < end);
        return least;
    }

    private static Graph graph(String format) {
        if (format.equals(LATENT)) {
            return latent(SHAPE.embeddingLength(), 4, 64, 32);
        }
        if (format.equals(EXPERTS)) {
            return expertGraph();
        }
        QuantFormat matrices = FORMATS.get("Q8_0");
        try (RandomModels.Model model = format.equals(STATES)
                ? StateModels.hybrid(1, matrices, SHAPE.embeddingLength())
                : RandomModels.llamaLike(1, matrices, SHAPE)) {
            return model.graph();
        }
    }

    /// Queries of heads with a plain and a rotated part, of which the plain one meets latents.
    private static Graph latent(int width, int heads, int plain, int rotated) {
        GraphBuilder b = new GraphBuilder(LATENT);
        RopeParams rope =
                RopeParams.builder(rotated, Pairing.INTERLEAVED, 10_000).build();
        Weight table = new Weight("token_embd.weight", width, SHAPE.vocabularySize());
        Value x = b.embedding("embd", table);
        Value q = b.linear("q", x, new Weight("q.weight", width, heads * (plain + rotated)), Optional.empty());
        Value turned = b.rope("q_rope", b.slice("q_pe", q, heads, plain, rotated), rope);
        Value met = b.headLinear(
                "k_b", b.slice("q_nope", q, heads, 0, plain), new Weight("k_b.weight", plain, plain, heads));
        Value latent = b.linear("kv", x, new Weight("kv.weight", width, plain), Optional.empty());
        latent = b.plainRmsNorm("latent", latent, 1, 1e-6f);
        Value shared = b.linear("k_pe", x, new Weight("k_pe.weight", width, rotated), Optional.empty());
        Value k = b.join("k", latent, b.rope("k_rope", shared, rope), 1);
        AttentionParams params =
                AttentionParams.builder(heads, 1, 0.1f).valuesInKeys(true).build();
        Value attended = b.attention("attn", b.join("queries", met, turned, heads), k, latent, 0, params);
        Value values = b.headLinear("v_b", attended, new Weight("v_b.weight", plain, plain, heads));
        Value out = b.linear("out", values, new Weight("out.weight", heads * plain, width), Optional.empty());
        return b.build(b.linear("logits", b.selectRows("rows", b.add("sum", x, out)), table, Optional.empty()));
    }

    /// Two layers of experts, the second with a shared one, between embedding and output. Routers are in the mixture
    /// too: in F32, which has no machine code, `Panel` allocates from four tokens on.
    private static Graph expertGraph() {
        int width = SHAPE.embeddingLength();
        GraphBuilder b = new GraphBuilder("experts");
        Weight table = new Weight("token_embd.weight", width, SHAPE.vocabularySize());
        Value x = b.embedding("embd", table);
        for (String p : List.of("blk.0.", "blk.1.")) {
            Value q = linear(b, p + "attn_q", x, width);
            Value k = linear(b, p + "attn_k", x, width);
            Value v = linear(b, p + "attn_v", x, width);
            int layer = p.equals("blk.0.") ? 0 : 1;
            x = b.add(p + "sa", x, b.attention(p + "attn", q, k, v, layer, 4, 4, 0.125f));
            Value h = b.rmsNorm(p + "ffn_norm", x, Weight.vector(p + "ffn_norm.weight", width), 1e-5f);
            ExpertOp.Router router = b.router(
                    p + "router",
                    linear(b, p + "ffn_gate_inp", h, 16),
                    RouterParams.builder(RouterParams.Gating.SOFTMAX, 4).build());
            Value gate = b.activate(p + "act", expert(b, p + "ffn_gate_exps", h, router), Activation.SILU);
            Value hidden = b.multiply(p + "hidden", gate, expert(b, p + "ffn_up_exps", h, router));
            Value sum = b.weightedSum(p + "moe", expert(b, p + "ffn_down_exps", hidden, router), router.shares());
            if (layer == 1) {
                Value act = b.activate(p + "act_shexp", linear(b, p + "ffn_gate_shexp", h, width), Activation.SILU);
                Value inner = b.multiply(p + "hidden_shexp", act, linear(b, p + "ffn_up_shexp", h, width));
                sum = b.add(p + "both", sum, linear(b, p + "ffn_down_shexp", inner, width));
            }
            x = b.add(p + "out", x, sum);
        }
        return b.build(b.linear("logits", b.selectRows("rows", x), table, Optional.empty()));
    }

    private static Value linear(GraphBuilder b, String name, Value x, int rows) {
        return b.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }

    private static Value expert(GraphBuilder b, String name, Value x, ExpertOp.Router router) {
        int width = SHAPE.embeddingLength();
        return b.expertLinear(
                name, x, router.chosen(), new Weight(name + ".weight", width, width, 16), Optional.empty());
    }

    /// {@return the format of a weight: in the mixture values, the second matrix of the feed-forward layer and the
    ///     output are finer}
    private static QuantFormat format(String name, Weight weight) {
        if (weight.rows() == 1 || weight.name().startsWith("conv.")) {
            return FORMATS.get("F32");
        }
        if (name.equals(STATES) || name.equals(LATENT)) {
            return FORMATS.get("Q8_0");
        }
        boolean finer = Stream.of("attn_v", "ffn_down", "output.weight").anyMatch(weight.name()::contains);
        return FORMATS.get(!name.matches("Q4_K_M|" + EXPERTS) ? name : finer ? "Q6_K" : "Q4_K");
    }

    /// {@return the ids of the calling thread and of the workers of the only open device}
    private static long[] team(int threads) {
        long[] workers = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("tenon-cpu-\\d+"))
                .mapToLong(Thread::threadId)
                .toArray();
        assertEquals(threads - 1, workers.length, "workers of " + threads + " threads");
        return LongStream.concat(LongStream.of(Thread.currentThread().threadId()), Arrays.stream(workers))
                .toArray();
    }

    /// {@return heap bytes that threads have allocated so far}
    private static long allocated(long[] threads) {
        long bytes = 0;
        for (long thread : threads) {
            bytes += COUNTER.getThreadAllocatedBytes(thread);
        }
        return bytes;
    }
}
