package dev.tenon.backend.cpu.vector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CentredConvolution;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.quant.formats.F32Format;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Compares which kernel runs each op for each shipped weight format, as plans report it, with a table in the
/// test's resources. An op or format that falls to a slower kernel, or gets a faster one, changes the table.
class KernelCoverageTests {
    private static final String TABLE = "kernel-coverage.txt";

    private Device device;

    @BeforeEach
    void openDevice() {
        // Not through the backend: what it chooses depends on the JVM's flags, and the table does not.
        DeviceInfo info = new DeviceInfo("cpu", "test", KernelSet.KIND, 1L << 30, Map.of());
        device = new CpuDevice(info, 1, new KernelSet(true));
    }

    @AfterEach
    void closeDevice() {
        device.close();
    }

    @Test
    void everyOpAndFormatRunsOnTheKernelOfTheTable() throws Exception {
        Set<String> found = new TreeSet<>();
        Set<String> ops = new TreeSet<>();
        Map<String, Set<String>> matrices = new TreeMap<>();
        List<QuantFormat> formats = shippedFormats();
        for (QuantFormat format : formats) {
            for (boolean fuse : new boolean[] {false, true}) {
                TinyModel model = TinyModel.create(1, format, true);
                for (PlanReport.Kernel step : steps(model.graph(), model.weights(), KvType.F16, fuse)) {
                    boolean matrix = step.op().matches("linear|linear_add|norm_.*|embedding");
                    if (matrix) {
                        matrices.computeIfAbsent(line(step, "*"), key -> new TreeSet<>())
                                .add(format.id());
                    } else if (!step.op().equals("attention")) {
                        found.add(line(step, "-"));
                    }
                    ops.add(step.op());
                }
            }
        }
        matrices.forEach((line, ids) -> {
            if (ids.size() == formats.size()) {
                found.add(line);
            } else {
                ids.forEach(id -> found.add(line.replace("*", id)));
            }
        });
        for (KvType type : KvType.values()) {
            TinyModel model = TinyModel.create(1, new F32Format(), false);
            steps(model.graph(), model.weights(), type, true).stream()
                    .filter(step -> step.op().equals("attention"))
                    .forEach(step -> found.add(line(step, type.name())));
        }
        TestWeights weights = new TestWeights();
        for (Graph graph : List.of(scaledAndCapped(weights), expertsAndEncoders(weights), states(weights))) {
            for (PlanReport.Kernel step : steps(graph, weights, KvType.F16, false)) {
                if (!step.op().matches("embedding|linear|select_rows|add")) {
                    found.add(line(step, "-"));
                }
                ops.add(step.op());
            }
        }
        for (PlanReport.Kernel step : steps(otherLayers(weights), weights, KvType.F16, true)) {
            if (step.op().matches("qkv|scaled_qkv|projections|.*gate_up|linear_then|norm_router|expert_down")) {
                found.add(line(step, "F32"));
            }
            ops.add(step.op());
        }
        assertEquals(knownOps(), ops, "ops that the models of this test have");
        assertEquals(
                String.join("\n", pinned()),
                String.join("\n", found),
                "kernels differ from src/test/resources/" + TABLE + "; if the change is meant, change that file");
    }

    /// What a step's kernels are, whatever the vectors' width.
    private static String line(PlanReport.Kernel step, String format) {
        Set<String> kinds = Stream.of(step.kernel().split(", "))
                .map(KernelCoverageTests::kind)
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(
                step.level() == Support.Level.FAST || kinds.contains("reference"),
                step + " is slow, but its kernel is not the reference");
        return step.op() + " " + format + " " + String.join("+", kinds);
    }

    private static String kind(String kernel) {
        if (kernel.matches(".*\\.vector(128|256|512)")) {
            return "vector";
        }
        return switch (kernel.substring(kernel.lastIndexOf('.') + 1)) {
            case "java" -> "java";
            case "decode" -> "decoder";
            case "generic", "scalar" -> "reference";
            default -> "other:" + kernel;
        };
    }

    private List<PlanReport.Kernel> steps(Graph graph, TestWeights weights, KvType type, boolean fuse) {
        PlanOptions options = PlanOptions.builder(64)
                .maxBatchTokens(8)
                .keyType(type)
                .valueType(type)
                .fuse(fuse)
                .build();
        try (Plan plan = device.compiler().compile(CompileRequest.of(graph, weights, options))) {
            return plan.report().kernels();
        }
    }

    private static Graph scaledAndCapped(TestWeights weights) {
        float[] values = new float[64 * 64];
        GraphBuilder b = new GraphBuilder("scaled");
        Weight table = weights.putRandom("embd", 64, 64, TestWeights.F32, values);
        Value x = b.scale("scaled", b.embedding("embd", table), 2);
        Value logits = b.linear("logits", b.selectRows("last", x), table, Optional.empty());
        Value bent = b.value("bent", 64);
        b.add(new PartOp.Xielu(b.softCap("capped", logits, 30), 0.8f, 0.8f, 0.5f, -1e-6f, bent));
        return b.build(b.positionScale("placed", bent, 0.1f, 0, 8));
    }

    private static Graph expertsAndEncoders(TestWeights weights) {
        float[] values = new float[64 * 64];
        GraphBuilder b = new GraphBuilder("more");
        Weight table = weights.putRandom("embd", 64, 64, TestWeights.F32, values);
        Weight row = table.rows(0, 1);
        Value x = b.add("typed", b.embedding("embd", table), b.repeat("type", row));
        x = b.replaceRows("replaced", b.add("with_given", x, b.givenRows("given", 64)));
        x = b.add("placed", x, b.positionEmbedding("position", table));
        Optional<Weight> most = Optional.of(weights.putRandom("most", 1, 1, TestWeights.F32, new float[1]));
        x = b.clamp(
                "clamped", b.transposedLinear("turned", b.transpose("across", x, 4), table), Optional.empty(), most);
        x = b.layerNorm("norm", x, row, Optional.empty(), 1e-5f);
        ExpertOp.Router router = b.router(
                "router",
                x,
                RouterParams.builder(RouterParams.Gating.SOFTMAX, 2)
                        .normalise(true)
                        .build());
        weights.putRandom("experts", 64, 16 * 64, TestWeights.F32, values);
        Weight experts = new Weight("experts", 64, 16, 64);
        Value up = b.expertLinear("up", x, router.chosen(), experts, Optional.empty());
        Value sum = b.weightedSum("sum", b.swigluOai("glu", up, up, 1.702f, 7), router.shares());
        Weight taps = weights.putRandom("taps", 3, 16, TestWeights.F32, new float[3 * 16]);
        sum = b.centredConvolution("conv", b.groupMean("mean", sum, 4), taps, Optional.empty());
        b.output("joined", b.joinRows("join", sum, 1));
        return b.build(b.pool("pool", sum, Pooling.MEAN));
    }

    private static Graph states(TestWeights weights) {
        float[] values = new float[64 * 64];
        GraphBuilder b = new GraphBuilder("states");
        Weight table = weights.putRandom("embd", 64, 64, TestWeights.F32, values);
        Weight groups = weights.putRandom("groups", 16, 4, TestWeights.F32, values);
        Weight taps = weights.putRandom("taps", 4, 64, TestWeights.F32, values);
        Weight four = weights.putRandom("four", 4, 1, TestWeights.F32, values);
        weights.putRandom("heads", 16, 4 * 16, TestWeights.F32, values);
        Value x = b.groupedRmsNorm("norm", b.embedding("embd", table), groups, 1e-5f);
        x = b.groupedLayerNorm("layer_norm", x, groups, 1e-5f);
        x = b.headLinear("each", b.plainRmsNorm("plain", x, 4, 1e-5f), new Weight("heads", 16, 16, 4));
        Value adapted = b.value("adapted", 64);
        b.add(new LowRankAdd(x, x, List.of(new LowRankAdd.Part(0, table.rows(0, 4), taps, 1)), adapted));
        x = b.slice("half", b.join("twice", adapted, x, 4), 4, 0, 16);
        x = b.shortConvolution("conv", x, taps, Optional.empty());
        Value heads = b.slice("heads", x, 4, 0, 1);
        Value scanned = b.value("scan", 32);
        b.add(new StateOp.SelectiveScan(x, heads, four, four, four, 1, scanned));
        Value corrected = b.value("delta", 32);
        b.add(new StateOp.GatedDeltaRule(x, heads, heads, four, four, 2, StateOp.KeyHeads.BLOCK, 1e-6f, corrected));
        Value shifted = b.value("shift", 64 * 4);
        b.add(new RecurrentOp.TokenShift(
                x, weights.putRandom("ways", 64, 4, TestWeights.F32, new float[256]), shifted));
        Value rkv = b.slice("rkv", shifted, 1, 0, 192);
        Value replaced = b.value("replaced", 64);
        b.add(new RecurrentOp.ReplacementRule(rkv, x, x, x, 4, replaced));
        Value positions = b.selectPositions("positions", x, heads, b.slice("key", x, 1, 0, 16), 0, 8);
        Value attended = b.value("attended", 64);
        AttentionParams two = AttentionParams.builder(2, 2, 0.2f).build();
        b.add(new SelectedAttention(new CoreOp.Attention(x, x, x, 1, two, attended), positions));
        Value toRuns = b.value("to_runs", 64);
        Value means = b.value("means", 64);
        b.add(new RecurrentOp.RunMean(attended, x, table.rows(0, 4), means));
        b.add(new RunAttention(
                new CoreOp.Attention(x, x, x, 2, two, toRuns),
                new CoreOp.Attention(x, means, means, 3, two, toRuns),
                4,
                Optional.empty()));
        replaced = b.add("and", replaced, toRuns);
        Value both = b.join("both", b.add("sum", scanned, corrected), b.slice("some", replaced, 1, 0, 32), 1);
        return b.build(b.selectRows("rows", both));
    }

    /// Layers that fuse in other ways than those of the tiny model. Other formats have the kernels of `linear`.
    private static Graph otherLayers(TestWeights weights) {
        float[] values = new float[64 * 64];
        GraphBuilder b = new GraphBuilder("layers");
        Weight square = weights.putRandom("square", 64, 64, TestWeights.F32, values);
        Weight row = square.rows(0, 1);
        Optional<Weight> none = Optional.empty();
        Value x = b.embedding("embd", square);
        Value q = b.linear("q", x, square, none);
        Value k = b.linear("k", x, square, none);
        Value v = b.linear("v", x, square, none);
        AttentionParams two = AttentionParams.builder(2, 2, 0.2f).build();
        Value attended = b.attention("att", q, k, v, 0, two);
        Value scaled = b.positionScale("scaled", b.linear("q2", attended, square, none), 0.1f, 0, 8);
        k = b.linear("k2", attended, square, none);
        v = b.linear("v2", attended, square, none);
        attended = b.attention("att2", scaled, k, v, 1, two);
        x = b.layerNorm("norm", b.add("sum", x, b.linear("o", attended, square, none)), row, none, 1e-5f);
        Value gate = b.activate("act", b.linear("gate", x, square, none), Activation.SILU);
        Value hidden = b.multiply("hidden", gate, b.linear("up", x, square, none));
        Value down = b.rmsNorm("post", b.linear("down", hidden, square, none), row, 1e-5f);
        x = b.add("out", x, down);
        Value n = b.rmsNorm("mixer_norm", x, row, 1e-5f);
        Value mixed = b.linear("mixer", n, square, none);
        x = b.multiply("mixed", mixed, b.add("mixer_sum", mixed, x));
        Value h = b.rmsNorm("ffn_norm", x, row, 1e-5f);
        RouterParams params =
                RouterParams.builder(RouterParams.Gating.SIGMOID, 2).build();
        ExpertOp.Router router = b.router("router", b.linear("gate_inp", h, square, none), params);
        weights.putRandom("experts", 64, 64 * 64, TestWeights.F32, new float[64 * 64 * 64]);
        Weight experts = new Weight("experts", 64, 64, 64);
        Value up = b.activate(
                "relu", b.expertLinear("up_exps", h, router.chosen(), experts, none), Activation.RELU_SQUARED);
        Value out = b.expertLinear("down_exps", up, router.chosen(), experts, none);
        return b.build(b.add("sum_exps", x, b.weightedSum("moe", out, router.shares())));
    }

    /// {@return kinds of all ops of the api, from their names}
    private static Set<String> knownOps() {
        Stream<Class<?>> grouped = Stream.of(
                        CoreOp.class,
                        ExpertOp.class,
                        FusedOp.class,
                        FusedExpertOp.class,
                        PartOp.class,
                        StateOp.class,
                        RecurrentOp.class)
                .flatMap(group -> Stream.of(group.getDeclaredClasses()));
        return Stream.concat(
                        grouped,
                        Stream.of(
                                PositionScale.class,
                                LowRankAdd.class,
                                CentredConvolution.class,
                                GivenRows.class,
                                ReplaceRows.class,
                                JoinRows.class,
                                SelectPositions.class,
                                SelectedAttention.class,
                                RunAttention.class))
                .filter(type -> type.isRecord() && Op.class.isAssignableFrom(type))
                .map(type -> type.getSimpleName()
                        .replaceAll("(?<=[a-z])(?=[A-Z])", "_")
                        .toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// {@return one of each format class of the module, found by the names of its class files}
    private static List<QuantFormat> shippedFormats()
            throws IOException, URISyntaxException, ReflectiveOperationException {
        Class<?> one = F32Format.class;
        URI place = one.getProtectionDomain().getCodeSource().getLocation().toURI();
        String folder = one.getPackageName().replace('.', '/');
        List<String> names;
        if (place.getPath().endsWith(".jar")) {
            try (FileSystem jar = FileSystems.newFileSystem(Path.of(place))) {
                names = classNames(jar.getPath(folder));
            }
        } else {
            names = classNames(Path.of(place).resolve(folder));
        }
        List<QuantFormat> formats = new ArrayList<>();
        for (String name : names) {
            Class<?> type = Class.forName(one.getPackageName() + "." + name);
            if (!Modifier.isAbstract(type.getModifiers())) {
                QuantFormat format = (QuantFormat) type.getConstructor().newInstance();
                // I32 holds no weights.
                if (format.layout().isPresent()) {
                    formats.add(format);
                }
            }
        }
        assertTrue(formats.size() >= 16, "formats found: " + names);
        return formats;
    }

    private static List<String> classNames(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Format.class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .sorted()
                    .toList();
        }
    }

    private static Set<String> pinned() throws IOException {
        try (var in = KernelCoverageTests.class.getResourceAsStream("/" + TABLE)) {
            assertTrue(in != null, "no resource " + TABLE);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
