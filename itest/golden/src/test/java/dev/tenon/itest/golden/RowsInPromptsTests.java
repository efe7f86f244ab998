package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelSource;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.emulator.EmulatedOrinProvider;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/// Models give the truth of the golden files where rows of pictures stand among their tokens: the logits after the
/// prompt.
class RowsInPromptsTests {
    private static final List<String> MODELS = List.of("gemma3", "qwen25vl", "qwen3vl", "qwen35vl", "idefics3");
    private static final double FLOATS = 1e-8;
    /// Where activations are rounded to 8 bits.
    private static final double ROUNDED = 1e-2;

    private static final int CONTEXT = 256;

    /// Where those of many rows are rounded to float16.
    private static final double NEARLY = 1e-5;

    private static final DeviceOptions HOST = DeviceOptions.builder().threads(2).build();
    private static final DeviceOptions ORIN = DeviceOptions.builder()
            .deviceId("emulated")
            .settings(Map.of("nv-tegra.kernels", "stand-ins"))
            .build();

    /// What computes, and how well.
    ///
    /// @param kernels of other bundles
    /// @param limit largest NMSE of logits
    private record Machine(Backend backend, List<KernelProvider> kernels, DeviceOptions options, double limit) {}

    @TestFactory
    Stream<DynamicTest> theReferenceGivesTheTruth() {
        return on(new Machine(new ReferenceBackend(), List.of(), HOST, FLOATS));
    }

    @TestFactory
    Stream<DynamicTest> theVectorApiGivesTheTruth() {
        return on(new Machine(new CpuVectorBackend(), List.of(), HOST, FLOATS));
    }

    @TestFactory
    Stream<DynamicTest> machineCodeGivesTheTruth() {
        List<KernelProvider> kernels = ServiceLoader.load(KernelProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return on(new Machine(new CpuVectorBackend(), kernels, HOST, ROUNDED));
    }

    /// Long: an emulated instruction takes a thousand real ones.
    @Tag("long")
    @TestFactory
    Stream<DynamicTest> theEmulatedOrinGivesTheTruth() {
        NvTegraBackend orin = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
        return on(new Machine(orin, List.of(), ORIN, NEARLY));
    }

    private static Stream<DynamicTest> on(Machine machine) {
        return MODELS.stream().map(name -> DynamicTest.dynamicTest(name, () -> run(name, machine)));
    }

    private static void run(String name, Machine machine) {
        JsonNode json = GoldenData.json(GoldenData.file("vision/" + name + ".json"));
        int width = json.get("n_embd_inp").asInt();
        PlanOptions options = PlanOptions.builder(CONTEXT)
                .maxBatchTokens(CONTEXT)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        try (GgufFile file = GgufReader.open(
                        GoldenData.file("vision/" + name + ".text.gguf"), TensorTypes.of(GoldenData.FORMATS));
                Device device = machine.backend().open(machine.options());
                Plan plan = device.compiler()
                        .compile(CompileRequest.builder(graph(file, width), GoldenData.weights(file), options)
                                .kernels(machine.kernels())
                                .build())) {
            if (machine.limit() == ROUNDED) {
                assumeTrue(
                        plan.report().kernels().stream()
                                .anyMatch(step -> step.kernel().contains("avx")),
                        "no machine code here");
            }
            float[] truth = GoldenData.floats(GoldenData.file("vision/" + name + ".logits_f64.f32"));
            int vocabulary = json.get("n_vocab").asInt();
            assertEquals(truth.length, json.get("images").size() * vocabulary);
            for (int i = 0; i * vocabulary < truth.length; i++) {
                float[] logits = Arrays.copyOfRange(truth, i * vocabulary, (i + 1) * vocabulary);
                check(name, json.get("images").get(i), width, plan, machine.limit(), logits);
            }
        }
    }

    private static Graph graph(GgufFile file, int width) {
        ModelSource text = GoldenData.source(file);
        ModelSource source = new ModelSource(text.metadata(), text.tensors(), 0, width);
        return GoldenData.architecture(file).define(source).graph().withOutputs(List.of(Graph.LOGITS));
    }

    private static void check(String name, JsonNode image, int width, Plan plan, double limit, float[] truth) {
        String pictures = image.get("image").asText();
        float[] rows = GoldenData.floats(GoldenData.file("vision/" + name + "." + pictures + ".embd_f64.f32"));
        StepInput input = new StepInput();
        input.addSequence(
                IntStream.range(0, plan.kvPages().pageCount()).toArray(),
                plan.states().isPresent() ? 0 : StepInput.NO_SLOT);
        int position = 0;
        int row = 0;
        JsonNode layout = image.get("layout");
        for (int i = 0; i < layout.size(); i++) {
            JsonNode part = layout.get(i);
            int place = part.get("pos0").asInt();
            if (part.has("ids")) {
                int[] ids = GoldenData.ints(part.get("ids"));
                for (int t = 0; t < ids.length; t++) {
                    boolean last = i == layout.size() - 1 && t == ids.length - 1;
                    input.addToken(ids[t], position++, last);
                    input.place(new int[] {place + t, place + t, place + t});
                }
                continue;
            }
            int count = part.get("n_tokens").asInt();
            for (int t = 0; t < count; t++, row++) {
                input.addToken(0, position + t, false, Arrays.copyOfRange(rows, row * width, (row + 1) * width));
                int[] at = {place + t, place + t, place + t};
                for (int axis = 0; axis < at.length && part.has("positions_t_h_w"); axis++) {
                    at[axis] = part.at("/positions_t_h_w/" + axis + "/" + t).asInt();
                }
                input.place(at);
                if (!part.get("causal").asBoolean()) {
                    input.span(position, position + count - 1);
                }
            }
            position += count;
        }
        StepResult result = plan.run(input);
        float[] got = new float[truth.length];
        result.logits(0, got);
        double error = GoldenData.nmse(got, truth, 0);
        System.out.printf("%s %s NMSE %.3g (limit %.3g)%n", name, pictures, error, limit);
        assertTrue(error <= limit, name + " " + pictures + ": NMSE " + error + " > " + limit);
        if (limit == FLOATS) {
            assertEquals(image.get("top10").get(0).get(0).asInt(), GoldenData.argMax(got), name + " " + pictures);
        }
    }
}
