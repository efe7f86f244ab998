package dev.tenon.kernels.nvidia.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.plan.TestGraphs;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.GivenInput;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenMasks;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Numbers that the planning and the CUDA sources both have: read out of the sources, and compared.
class KernelConstantsTests {
    private static final Map<String, String> SOURCES = sources();

    private static Map<String, String> sources() {
        Map<String, String> texts = new HashMap<>();
        for (String file : List.of(
                "small",
                "encoders",
                "states",
                "key_states",
                "rows",
                "sample",
                "attention",
                "attention_prefill",
                "embedding",
                "linear",
                "matmul",
                "qkv",
                "router",
                "experts",
                "expert_matmul",
                "float_matmul")) {
            var source = KernelCatalogue.source(KernelModule.of(file + ".cu", "Q8_0"), Map.of());
            texts.put(file + ".cu", source.text());
            texts.putAll(source.headers());
        }
        return texts;
    }

    /// The one place in a source that matches.
    private static MatchResult find(String file, String pattern) {
        List<MatchResult> found =
                Pattern.compile(pattern).matcher(SOURCES.get(file)).results().toList();
        assertEquals(1, found.size(), () -> "places in " + file + " that match " + pattern);
        return found.getFirst();
    }

    private static int number(String file, String pattern) {
        return Integer.parseInt(find(file, pattern).group(1));
    }

    private static int constant(String file, String name) {
        return number(file, "(?:constexpr int|#define) " + name + "(?: =)? (\\d+)");
    }

    @Test
    void activationsHaveTheNumbersOfTheirCases() {
        String body = find("common.cuh", "(?s)float activated\\(float x, int activation\\) \\{(.*?)\n\\}")
                .group(1);
        Map<String, Integer> cases = new HashMap<>();
        Pattern.compile("activation == /\\* (\\w+) \\*/ (\\d+)")
                .matcher(body)
                .results()
                .forEach(m -> cases.put(m.group(1), Integer.parseInt(m.group(2))));
        assertEquals(Activation.values().length, cases.size() + 1, cases::toString);
        for (Activation activation : Activation.values()) {
            int code = KernelCodes.of(activation);
            if (activation == Activation.SILU) {
                assertTrue(!cases.containsValue(code), activation + " is told by " + code);
            } else {
                assertEquals(cases.get(activation.name()), code, activation::name);
            }
        }
    }

    @Test
    void pairingsHaveTheNumbersThatRotationsCompareWith() {
        int neighbours = number("small.cu", "pairing == (\\d+) \\? 2 \\* i : i \\+");
        assertEquals(neighbours, KernelCodes.of(Pairing.INTERLEAVED));
        assertNotEquals(neighbours, KernelCodes.of(Pairing.HALF_SPLIT));
        SOURCES.forEach((file, text) -> Pattern.compile("pairing (?:==|!=) (\\d+)")
                .matcher(text)
                .results()
                .forEach(m -> assertEquals(neighbours, Integer.parseInt(m.group(1)), file)));
        MatchResult told =
                find("kv_cache.cuh", "int pairing; // (\\d): elements 2i and 2i \\+ 1 are a pair; (\\d): i and");
        assertEquals(KernelCodes.of(Pairing.INTERLEAVED), Integer.parseInt(told.group(1)));
        assertEquals(KernelCodes.of(Pairing.HALF_SPLIT), Integer.parseInt(told.group(2)));
    }

    @Test
    void attentionIsLaunchedAsItIsCompiled() {
        assertEquals(constant("kv_cache.cuh", "PAGE_TOKENS"), KvBuffer.TOKENS);
        assertEquals(constant("attention_prefill.cu", "PAGE_TOKENS"), KvBuffer.TOKENS);
        assertEquals(constant("kv_cache.cuh", "MAX_HEAD"), AttentionLaunches.LONGEST_HEAD);
        assertEquals(constant("kv_cache.cuh", "SHORT_HEAD"), AttentionLaunches.SHORT_HEAD);
        assertEquals(constant("attention_part.cuh", "MAX_SPLITS"), AttentionLaunches.MAX_SPLITS);
        assertEquals(constant("attention_part.cuh", "GROUP"), AttentionLaunches.HEADS_A_BLOCK);
        assertEquals(constant("attention_tensor.cuh", "MAX_STAGES"), AttentionLaunches.MOST_STAGES);
        assertTrue(StepShape.FEW <= constant("attention_part.cuh", "MAX_ROWS"), "rows of a fused step");
        MatchResult threads = find("attention.cu", "THREADS_OF = D <= 0 \\? (\\d+) : (\\d+);");
        assertEquals(Integer.parseInt(threads.group(1)), AttentionLaunches.BLOCK);
        assertEquals(Integer.parseInt(threads.group(2)), 2 * AttentionLaunches.BLOCK);
        threads = find("attention_tensor.cuh", "TENSOR_THREADS = DEEP && D == 64 \\? (\\d+) : (\\d+);");
        assertEquals(Integer.parseInt(threads.group(1)), AttentionLaunches.DEEP_BLOCK);
        assertEquals(Integer.parseInt(threads.group(2)), 2 * AttentionLaunches.BLOCK);
        assertEquals(constant("attention_prefill.cu", "ATTENTION_THREADS"), AttentionLaunches.BLOCK);
        // Two pages of keys and values in float16.
        assertEquals(2 * 2 * 2 * KvBuffer.TOKENS, AttentionLaunches.TILE_BYTES);
    }

    @Test
    void expertsAreLaunchedAsTheyAreCompiled() {
        assertEquals(constant("router.cu", "MOST_EXPERTS"), ExpertLaunches.MOST_EXPERTS);
        assertEquals(constant("router.cu", "ROUTER_THREADS"), ExpertLaunches.ROUTER_BLOCK);
        assertEquals(constant("router.cu", "GROUP_THREADS"), ExpertLaunches.GROUP_BLOCK);
        assertEquals(constant("experts.cu", "MOST_USED"), ExpertLaunches.MOST_USED);
        assertEquals(number("gate.cuh", "NO_ACTIVATION = (-\\d);"), ExpertLaunches.Gate.NONE.activation());
        assertEquals(number("gate.cuh", "SWIGLU_OAI = (-\\d);"), ExpertLaunches.Gate.SWIGLU_OAI);
    }

    @Test
    void productsOnTensorCoresHaveTheTilesThatAreCompiled() {
        int rows = constant("matmul.cuh", "TILE_ROWS");
        int stepBytes = 2 * constant("matmul.cuh", "STEP");
        assertEquals(rows, LinearLaunches.TILE_ROWS);
        assertEquals(constant("matmul.cuh", "MATMUL_THREADS"), LinearLaunches.BLOCK);
        // Shared memory begins at the next multiple of 1024.
        assertEquals(1024 + constant("matmul.cuh", "STAGES_A") * rows * stepBytes, LinearLaunches.MATMUL_BYTES);
        assertEquals(constant("float_matmul.cu", "FLOAT_TILE"), LinearLaunches.FLOAT_TILE);
        assertEquals(constant("float_matmul.cu", "FLOAT_THREADS"), LinearLaunches.BLOCK);
        assertEquals(constant("matmul.cuh", "STAGES_B") * stepBytes, LinearLaunches.MATMUL_ROW_BYTES);
    }

    @Test
    void productsOfFewRowsHaveTheBlocksThatAreCompiled() {
        assertEquals(constant("product.cuh", "TENON_BLOCK"), MvSchedule.BLOCK);
        assertEquals(constant("linear.cuh", "TENON_ROWS"), MvSchedule.DEFAULT.rows());
        MatchResult stages = find("linear.cuh", "STAGES_OF = T == 1 \\? (\\d) : (\\d);");
        assertEquals(Integer.parseInt(stages.group(1)), MvGeometry.stages(1));
        assertEquals(Integer.parseInt(stages.group(2)), MvGeometry.stages(2));
        int fragment = 16 * number("float_product.cuh", "PIECES16 = (2);");
        assertEquals(fragment, MvGeometry.THIRD_PARTY_SLOT_BYTES);
    }

    @ParameterizedTest
    @MethodSource("dev.tenon.kernels.nvidia.DeviceFormat#nativeIds")
    void aFormatHasTheBlocksOfItsSource(String id) {
        String file = "format_" + id + ".cuh";
        DeviceFormat format = DeviceFormats.OWN.of(TestGraphs.named(id));
        assertEquals(constant(file, "BLOCK"), format.blockSize());
        assertEquals(constant(file, "BYTES"), format.blockBytes());
        if (format.layout().isPresent()) { // ShippedLayoutTests
            return;
        }
        assertEquals(find(file, "KIND = (\\w+);").group(1).equals("INTEGERS"), format.integer());
        int unitBytes = 16;
        int span = 4;
        if (format.integer()) {
            unitBytes = 16 * constant(file, "PIECES16") + 4 * constant(file, "PIECES4");
            span = constant(file, "UNIT") < 64 ? 2 : 1;
        }
        assertEquals(unitBytes * span, MvGeometry.slotBytes(format), "bytes of a thread in a stage");
    }

    @Test
    void samplingHasTheSlicesAndCandidatesThatAreCompiled() {
        assertEquals(constant("sample.cu", "SLICE"), TokenMasks.SLICE);
        assertEquals(constant("sample.cu", "MOST"), TokenRing.MOST_CANDIDATES);
        StepLimits limits = new StepLimits(
                TestGraphs.options(8, 4),
                4,
                100,
                100,
                true,
                0,
                Integer.MAX_VALUE,
                true,
                8,
                0,
                0,
                List.of(),
                GivenInput.NOTHING);
        var layout = limits.layout(StepShape.of(4, 4, 4).sampling(1));
        String choice = find("sample.cu", "(?s)struct Choice \\{(.*?)\\};").group(1);
        long bytes = Pattern.compile("(?m)^ *(float|int|u64) \\w+;")
                .matcher(choice)
                .results()
                .mapToLong(m -> m.group(1).equals("u64") ? 8 : 4)
                .sum();
        assertEquals(4 * bytes, layout.steps() - layout.choices());
    }
}
