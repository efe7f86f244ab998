package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.Issue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenMasks;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GraphPlannerTests {
    private static PlannedGraph plan(TestGraphs t, Graph graph, PlanOptions options, KernelProvider... offered) {
        return t.plan(graph, options, TestGraphs.HOPPER, MvSchedule.DEFAULT, offered);
    }

    private static List<String> entries(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream().map(Launch::entry).toList();
    }

    @Test
    void aDecodedTokenTakesFiveKernelsALayer() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)), TestGraphs.options(8, 1));
        List<String> layer =
                List.of("qkv_Q4_K_Q6_K_t1", "attention_f16_d64", "linear_Q4_K_t1", "gate_up_Q4_K_t1", "linear_Q6_K_t1");
        List<String> expected = new ArrayList<>(List.of("embedding_Q4_K", "rope_table"));
        expected.addAll(layer);
        expected.addAll(layer);
        expected.add("linear_Q4_K_t1");
        assertEquals(expected, entries(planned, new StepShape(1, 1, false)));
    }

    @Test
    void aGraphMayEndBehindAnyOp() {
        TestGraphs t = new TestGraphs();
        Graph whole = t.decoder("Q8_0", "Q8_0", true);
        for (int i = 0; i < whole.ops().size(); i++) {
            List<Op> ops = new ArrayList<>(whole.ops().subList(0, i + 1));
            Value output = ops.getLast().outputs().getFirst();
            if (ops.stream().noneMatch(CoreOp.SelectRows.class::isInstance)) {
                Value rows = new Value(whole.valueCount(), "rows", output.width());
                ops.add(new CoreOp.SelectRows(output, rows));
                output = rows;
            }
            Graph cut = new Graph("cut", ops, output);
            for (Graph graph : List.of(cut, Fusion.fuse(cut))) {
                List<String> entries = entries(plan(t, graph, TestGraphs.options(8, 1)), new StepShape(1, 1, false));
                assertFalse(entries.isEmpty(), "no kernels up to " + output);
            }
        }
    }

    @Test
    void aStepThatChoosesEndsWithTheChoice() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("Q8_0", "Q8_0", false)), TestGraphs.options(16, 16));
        for (int sequences : new int[] {1, 3, 16}) {
            StepShape shape = StepShape.of(sequences, sequences, sequences).sampling(40);
            List<String> plain = entries(planned, new StepShape(shape.rows(), shape.logitRows(), shape.decode()));
            List<Launch> launches = planned.launches(shape);
            assertEquals(
                    plain,
                    launches.stream()
                            .limit(launches.size() - 1)
                            .map(Launch::entry)
                            .toList());
            Launch choice = launches.getLast();
            assertEquals("choose", choice.entry());
            assertEquals(shape.rows(), choice.blocks().y());
            assertEquals(new Argument.Int(64), choice.arguments().get(4));
        }
        StepShape mixed = StepShape.of(13, 3, 2).sampling(40);
        assertEquals(new StepShape(16, 4, false, 64), mixed);
        Launch choice = planned.launches(mixed).getLast();
        assertEquals("choose", choice.entry());
        assertEquals(4, choice.blocks().y(), "a row for each one that wants logits");
        assertEquals(16, planned.limits().maxSampledRows());
        planned.launches(new StepShape(16, 16, false).sampling(TokenRing.MOST_CANDIDATES));
        assertEquals(BufferSpec.Kind.HOST, planned.sampled().kind());
        assertEquals(TokenRing.bytes(16), planned.sampled().bytes());
        assertEquals(BufferSpec.Kind.HOST, planned.masks().kind());
        assertEquals(
                TokenMasks.bytes(16, planned.logitsWidth()), planned.masks().bytes());
    }

    @Test
    void withoutWantedLogitsTheHeadIsLeftOut() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("Q8_0", "Q8_0", false)), TestGraphs.options(8, 1));
        List<String> with = entries(planned, new StepShape(4, 1, false));
        List<String> without = entries(planned, new StepShape(4, 0, false));
        assertEquals(with.subList(0, with.size() - 2), without);
        assertEquals(List.of("select_rows", "linear_Q8_0_t1"), with.subList(with.size() - 2, with.size()));
        assertEquals(List.of("select_rows", "linear_Q8_0_t4"), entries(planned, new StepShape(0, 4, false)));
    }

    @Test
    void fiveRowsRunOnTensorCoresAndFourDoNot() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)), TestGraphs.options(8, 8));
        assertTrue(entries(planned, StepShape.of(5, 1, 5)).contains("matmul_gate_up_Q4_K_n16"));
        assertTrue(entries(planned, StepShape.of(4, 1, 4)).contains("gate_up_Q4_K_t4"));
    }

    /// The largest number of blocks that share a tile or a sequence, over the launches of some kernels.
    private static int splits(Map<String, String> settings, StepShape shape, String entry) {
        TestGraphs t = new TestGraphs();
        PlanOptions options =
                PlanOptions.builder(4096).maxBatchTokens(64).settings(settings).build();
        return plan(t, Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)), options).launches(shape).stream()
                .filter(launch -> launch.entry().startsWith(entry))
                .mapToInt(launch -> entry.equals("matmul_Q")
                        ? launch.blocks().z()
                        : launch.blocks().x())
                .max()
                .orElseThrow();
    }

    @Test
    void splitsGoNoFurtherThanTheirSettings() {
        StepShape prompt = new StepShape(64, 1, false);
        int own = splits(Map.of(), prompt, "matmul_Q");
        assertTrue(own > 1, own + " blocks");
        assertEquals(own, splits(Map.of("mm.splits", "8"), prompt, "matmul_Q"));
        assertEquals(1, splits(Map.of("mm.splits", "1"), prompt, "matmul_Q"));
        StepShape token = new StepShape(1, 1, false);
        int pieces = splits(Map.of(), token, "attention");
        assertTrue(pieces > 8, pieces + " pieces");
        assertEquals(pieces, splits(Map.of("attention.splits", "64"), token, "attention"));
        assertEquals(8, splits(Map.of("attention.splits", "8"), token, "attention"));
    }

    @Test
    void everyValueOfAKnobIsAllowedAndPlans() {
        for (Knob knob : PlanSettings.KNOBS) {
            Setting setting = PlanSettings.ALL.stream()
                    .filter(s -> s.name().equals(knob.setting()))
                    .findFirst()
                    .orElseThrow();
            for (String value : knob.values()) {
                assertEquals(value, setting.parse(value));
                assertFalse(knob.keepsBits());
                TestGraphs t = new TestGraphs();
                PlanOptions options = PlanOptions.builder(4096)
                        .maxBatchTokens(64)
                        .settings(Map.of(knob.setting(), value))
                        .build();
                PlannedGraph planned = t.plan(
                        Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)),
                        options,
                        TestGraphs.HOPPER,
                        MvSchedule.of(options.settings()));
                for (StepShape shape : List.of(new StepShape(1, 1, false), new StepShape(64, 1, false))) {
                    assertFalse(planned.launches(shape).isEmpty(), knob.setting() + "=" + value);
                }
            }
        }
    }

    @Test
    void aPromptRunsOnTensorCores() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)), TestGraphs.options(64, 1));
        List<String> entries = entries(planned, new StepShape(64, 1, false));
        assertEquals(
                List.of(
                        "norm_f16",
                        "matmul_Q4_K_n64",
                        "matmul_Q6_K_n64",
                        "rope_append_f16",
                        "attention_prefill_f16_d64",
                        "matmul_Q4_K_n64",
                        "norm_f16",
                        "matmul_gate_up_Q4_K_n64",
                        "matmul_Q6_K_n64"),
                entries.subList(2, 11));
        List<String> decode = entries(planned, new StepShape(64, 64, true));
        assertTrue(decode.contains("attention_f16_d64") && decode.contains("to_f16"), decode::toString);
        assertFalse(decode.contains("attention_prefill_f16_d64"), decode::toString);
    }

    @Test
    void floatWeightsStayExactInPrompts() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("F32", "F32", false)), TestGraphs.options(32, 1));
        List<String> entries = entries(planned, new StepShape(32, 1, false));
        assertTrue(
                entries.stream().noneMatch(e -> e.startsWith("matmul") || e.endsWith("f16") && e.startsWith("to")),
                entries::toString);
        assertEquals(4, entries.stream().filter(e -> e.equals("qkv_F32_F32_t8")).count() / 2);
    }

    @Test
    void everyAddressLiesInItsBuffer() {
        for (String format : List.of("F32", "F16", "Q8_0", "Q3_K", "RARE")) {
            for (boolean fuse : new boolean[] {true, false}) {
                TestGraphs t = new TestGraphs();
                Graph graph = t.decoder(format, format, true);
                graph = fuse ? Fusion.fuse(graph) : graph.expanded();
                PlannedGraph planned = plan(t, graph, TestGraphs.options(100, 5));
                List<BufferSpec> buffers = planned.buffers();
                for (int rows : new int[] {0, 1, 2, 4, 8, 16, 32, 64, 128}) {
                    for (int logits : new int[] {0, 1, 4, 16}) {
                        for (Launch launch : planned.launches(new StepShape(rows, logits, false))) {
                            for (Argument argument : launch.arguments()) {
                                if (argument instanceof Argument.Address a && a.buffer() >= 0) {
                                    BufferSpec buffer = buffers.get(a.buffer());
                                    assertTrue(
                                            a.offsetBytes() < buffer.bytes(),
                                            () -> launch + " reaches beyond " + buffer);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void aFormatWithoutKernelsIsDecodedToHalfPrecision() {
        TestGraphs t = new TestGraphs();
        Graph graph = Fusion.fuse(t.decoder("RARE", "RARE", false));
        PlannedGraph planned = plan(t, graph, TestGraphs.options(8, 1));
        DeviceWeight head = planned.matrices().getFirst();
        assertTrue(head.format().transcoded(), head::toString);
        assertEquals(2L * 512 * 1000, head.bytes());
        assertEquals(Support.Level.GENERIC, planned.steps().getLast().level());
        Support support = KernelSupport.of(graph.ops().getLast(), t, List.of(), () -> true);
        assertEquals(Support.Level.GENERIC, support.level());
        assertTrue(support.reason().contains("RARE"), support.reason());
    }

    @Test
    void aLibraryComputesTheProductsOfManyRowsInItsFormat() {
        CudaMatmul library = new CudaMatmul() {
            @Override
            public String name() {
                return "library.f16";
            }

            @Override
            public String format() {
                return "F16";
            }

            @Override
            public Launcher open(long context, long stream, long workspace) {
                throw new AssertionError("planning opens nothing");
            }
        };
        TestGraphs t = new TestGraphs();
        Graph graph = Fusion.fuse(t.decoder("F16", "Q8_0", false));
        PlannedGraph planned = plan(t, graph, TestGraphs.options(64, 1), () -> List.of(library));
        List<String> entries = entries(planned, new StepShape(64, 1, false));
        // Query and key; value is Q8_0. The product after attention, and the addition that is fused with it elsewhere.
        assertEquals(
                List.of(
                        "norm_f16",
                        "library.f16",
                        "library.f16",
                        "matmul_Q8_0_n64",
                        "rope_append_f16",
                        "attention_prefill_f16_d64",
                        "library.f16",
                        "add",
                        "norm_f16",
                        "matmul_gate_up_F16_n64",
                        "matmul_Q8_0_n64"),
                entries.subList(2, 13));
        Launch launch = planned.launches(new StepShape(64, 1, false)).stream()
                .filter(l -> l.library().isPresent())
                .findFirst()
                .orElseThrow();
        assertEquals(
                List.of(new Argument.Int(64), new Argument.Int(512), new Argument.Int(512)),
                launch.arguments().subList(3, 6));
        assertFalse(entries(planned, new StepShape(1, 1, false)).contains("library.f16"), "few rows");
        assertTrue(planned.modules(List.of(new StepShape(64, 1, false))).stream()
                .noneMatch(m -> m.name().equals("library")));
        assertTrue(KernelSupport.of(graph.ops().getLast(), t, List.of(() -> List.of(library)), () -> true)
                .reason()
                .contains("library.f16"));
    }

    @Test
    void aThirdPartysDecoderTakesPartInEveryKernel() {
        CudaFragment fragment = new CudaFragment("mine", "RARE", "__device__ void f() {}", "f");
        KernelProvider provider = () -> List.of(fragment);
        TestGraphs t = new TestGraphs();
        PlannedGraph planned =
                plan(t, Fusion.fuse(t.decoder("RARE", "RARE", false)), TestGraphs.options(8, 1), provider);
        List<String> entries = entries(planned, new StepShape(1, 1, false));
        assertTrue(entries.contains("linear_Third_RARE_t1"), entries::toString);
        assertTrue(entries.contains("gate_up_Third_RARE_t1"), entries::toString);
        String header = planned.headers().get("format_Third_RARE.cuh");
        assertTrue(header.contains("struct Third_RARE") && header.contains("f(block, values)"), header);
        KernelModule module = planned.modules(List.of(new StepShape(1, 1, false))).stream()
                .filter(m -> m.file().equals("linear.cu"))
                .findFirst()
                .orElseThrow();
        assertTrue(
                module.options().contains("-DTENON_FORMAT_FILE=\"format_Third_RARE.cuh\""), module.options()::toString);
    }

    @Test
    void aLayoutTakesPartInEveryKernel() {
        TestGraphs t = new TestGraphs();
        PlannedGraph planned = plan(t, Fusion.fuse(t.decoder("LAID", "LAID", false)), TestGraphs.options(8, 1));
        List<String> entries = entries(planned, new StepShape(1, 1, false));
        assertTrue(entries.contains("qkv_Third_LAID_Third_LAID_t1"), entries::toString);
        assertTrue(entries.contains("gate_up_Third_LAID_t1"), entries::toString);
        String header = planned.headers().get("format_Third_LAID.cuh");
        assertTrue(header.contains("struct Third_LAID") && header.contains("BITS = 5"), header);
        List<KernelModule> modules = new ArrayList<>(planned.modules(List.of(new StepShape(1, 1, false))));
        modules.addAll(planned.repackModules());
        for (KernelModule module : modules) {
            String options = String.join(" ", module.options());
            assertEquals(
                    options.contains("-DTENON_FORMAT=Third_LAID"),
                    options.contains("-DTENON_FORMAT_FILE=\"format_Third_LAID.cuh\""),
                    options);
            assertEquals(
                    options.contains("-DTENON_FORMAT_V=Third_LAID"),
                    options.contains("-DTENON_FORMAT_V_FILE=\"format_Third_LAID.cuh\""),
                    options);
        }
        assertEquals(1, planned.repackModules().size());
    }

    @Test
    void aLayoutIsDecodedToF16WhereNothingCompiles() {
        DeviceFormats without = new DeviceFormats(Map.of(), () -> false);
        assertTrue(without.of(TestGraphs.named("LAID")).transcoded());
        assertTrue(new DeviceFormats(Map.of(), () -> true)
                .of(TestGraphs.named("LAID"))
                .layout()
                .isPresent());
    }

    @Test
    void keysAndValuesOfDifferentTypesNeedCompiledKernels() {
        TestGraphs t = new TestGraphs();
        PlanOptions mixed =
                PlanOptions.builder(64).maxBatchTokens(8).valueType(KvType.Q8_0).build();
        List<Issue> issues =
                PlanRequest.refusals(t.decoder("F16", "F16", false), t, DeviceFormats.OWN, List.of(), mixed, false);
        assertEquals(1, issues.size(), issues::toString);
        assertTrue(issues.getFirst().message().contains("Q8_0"), issues::toString);
        assertEquals(
                List.of(),
                PlanRequest.refusals(t.decoder("F16", "F16", false), t, DeviceFormats.OWN, List.of(), mixed, true));
    }

    @Test
    void aPairOfCacheTypesIsAModuleOfItsOwn() {
        TestGraphs t = new TestGraphs();
        PlanOptions mixed = PlanOptions.builder(4096)
                .maxBatchTokens(64)
                .valueType(KvType.Q8_0)
                .build();
        Graph graph = Fusion.fuse(t.decoder("F16", "F16", false));
        PlannedGraph planned = t.plan(graph, mixed, TestGraphs.HOPPER, MvSchedule.DEFAULT);
        Map<String, String> modules = new HashMap<>();
        for (StepShape shape : List.of(new StepShape(1, 1, false), new StepShape(64, 1, false))) {
            planned.launches(shape)
                    .forEach(l -> modules.put(l.entry(), l.module().name()));
        }
        assertEquals("attention.f16.plain.q8_0", modules.get("attention_f16_q8_0_d64"), modules::toString);
        assertEquals("small.f16.q8_0", modules.get("rope_append_f16_q8_0"), modules::toString);
        assertEquals(
                "attention_prefill.f16.plain.q8_0", modules.get("attention_prefill_f16_q8_0_d64"), modules::toString);
        assertTrue(planned.cache().get(0).pageBytes() > planned.cache().get(1).pageBytes());
    }

    @Test
    void attentionLeavesRoomForTheResidualProductBehindIt() {
        KvType half = KvType.F16;
        KvType q8 = KvType.Q8_0;
        assertEquals("64 pieces, 65536 bytes", attention(TestGraphs.HOPPER, half, half, 1));
        assertEquals("16 pieces, 65536 bytes", attention(TestGraphs.HOPPER, half, half, 4));
        assertEquals("64 pieces, 34816 bytes", attention(TestGraphs.HOPPER, q8, q8, 1));
        assertEquals("64 pieces, 50176 bytes", attention(TestGraphs.HOPPER, half, q8, 1));
        assertEquals("64 pieces, 50176 bytes", attention(TestGraphs.HOPPER, q8, half, 1));
        assertEquals("16 pieces, 65536 bytes", attention(TestGraphs.ORIN, half, half, 1));
        assertEquals("64 pieces, 0 bytes", attention(TestGraphs.HOPPER, KvType.F32, KvType.F32, 1));
    }

    private static String attention(DeviceTraits traits, KvType keys, KvType values, int rows) {
        TestGraphs t = new TestGraphs();
        PlanOptions options = PlanOptions.builder(4096)
                .maxBatchTokens(8)
                .keyType(keys)
                .valueType(values)
                .build();
        Graph graph = Fusion.fuse(t.decoder("Q8_0", "Q8_0", false));
        PlannedGraph planned = t.plan(graph, options, traits, MvSchedule.DEFAULT);
        Launch launch = planned.launches(new StepShape(rows, 1, false)).stream()
                .filter(l -> l.module().file().equals("attention.cu"))
                .findFirst()
                .orElseThrow();
        return launch.blocks().x() + " pieces, " + launch.blocks().sharedBytes() + " bytes";
    }

    @Test
    void longSequencesHaveAttentionOfTheirOwn() {
        TestGraphs t = new TestGraphs();
        Graph graph = Fusion.fuse(t.decoder("Q8_0", "Q8_0", false));
        DeviceTraits few = new DeviceTraits(9, 0, 32, TestGraphs.HOPPER.sharedBytes()); // 16 pieces of two kv heads
        PlannedGraph planned = t.plan(graph, TestGraphs.options(8, 4), few, MvSchedule.DEFAULT);
        StepShape plain = new StepShape(1, 1, false);
        assertEquals(plain, planned.limits().at(plain, 255));
        StepShape deep = planned.limits().at(plain, 256);
        assertTrue(deep.deep());
        assertEquals(deep.sampling(1), planned.limits().at(plain.sampling(1), 4095));
        assertEquals(
                planned.limits().layout(plain).bytes(),
                planned.limits().layout(deep).bytes());
        StepShape many = new StepShape(8, 1, false);
        assertEquals(many, planned.limits().at(many, 4095));

        List<Launch> launches = planned.launches(deep);
        List<String> expected = entries(planned, plain).stream()
                .map(e -> e.replace("attention_", "attention_deep_"))
                .toList();
        assertEquals(expected, launches.stream().map(Launch::entry).toList());
        for (Launch launch : launches) {
            if (launch.module().file().equals("attention.cu")) {
                assertEquals(384, launch.blocks().threads());
                assertEquals(98304, launch.blocks().sharedBytes()); // two places of a warp
                Argument.Address words = (Argument.Address) launch.arguments().get(14);
                assertEquals(
                        BufferSpec.Kind.ZEROED,
                        planned.buffers().get(words.buffer()).kind());
                // halves, and a maximum and a weight, of each piece of each head
                long needed = (long) launch.blocks().x() * 8 * (2 * 64 + 8);
                assertTrue(planned.buffers().get(words.buffer()).bytes() >= needed);
            }
        }
    }

    @Test
    void olderDevicesManyPiecesAndOtherCachesHaveOneAttentionForAllLengths() {
        TestGraphs t = new TestGraphs();
        Graph graph = Fusion.fuse(t.decoder("Q8_0", "Q8_0", false));
        PlanOptions floats = PlanOptions.builder(4096)
                .maxBatchTokens(8)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        StepShape plain = new StepShape(1, 1, false);
        for (PlannedGraph planned : List.of(
                t.plan(graph, TestGraphs.options(8, 1), TestGraphs.ORIN, MvSchedule.DEFAULT),
                plan(t, graph, TestGraphs.options(8, 1)), // two kv heads on 132 multiprocessors
                plan(t, graph, floats),
                plan(t, t.decoder("Q8_0", "Q8_0", false), TestGraphs.options(8, 1)))) {
            assertEquals(plain, planned.limits().at(plain, 4095));
        }
    }

    @Test
    void aSmallDeviceTakesFewerTokensAtOnce() {
        TestGraphs t = new TestGraphs();
        Graph graph = t.decoder("Q4_K", "Q4_K", false);
        DeviceTraits tiny = new DeviceTraits(8, 7, 4, 20480);
        PlanOptions options = PlanOptions.builder(4096)
                .maxBatchTokens(8)
                .settings(Map.of(GraphPlanner.TENSOR_CORES, "off"))
                .build();
        PlannedGraph planned = t.plan(Fusion.fuse(graph), options, tiny, MvSchedule.DEFAULT);
        List<Launch> launches = planned.launches(new StepShape(8, 1, false));
        List<String> entries = launches.stream().map(Launch::entry).toList();
        // Rows of 512 elements fit eight at a time, those of 1024 four, with blocks of 64 threads.
        assertEquals(
                2, entries.stream().filter(e -> e.equals("qkv_Q4_K_Q4_K_t8")).count(), entries::toString);
        assertEquals(4, entries.stream().filter(e -> e.equals("linear_Q4_K_t4")).count(), entries::toString);
        for (Launch launch : launches) {
            if (!launch.module().file().equals("attention.cu")) { // whose needs do not grow with the tokens
                assertTrue(launch.blocks().sharedBytes() <= 20480, launch::toString);
            }
            if (launch.module().file().equals("qkv.cu")) {
                assertEquals("64", launch.module().macros().get("TENON_BLOCK"));
                assertEquals(64, launch.blocks().threads());
            }
        }
    }

    @Test
    void knobsThatAreNoneAreRefusedByName() {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> MvSchedule.of(Map.of("mv.threads-per-row", "3")));
        assertTrue(e.getMessage().contains("mv.threads-per-row"), e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> MvSchedule.of(Map.of("mv.block-size", "many")));
        assertEquals(
                new MvSchedule(8, 256, 2, false),
                MvSchedule.of(Map.of("mv.block-size", "256", "mv.rows-per-thread", "2", "mv.threads-per-row", "8")));
    }
}
