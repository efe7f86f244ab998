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

/// Heads for further tokens give the truth of the golden files: hidden states of the model, of the head for the
/// tokens of a prompt, and its guesses, one after the other.
class DraftHeadTests {
    private static final List<String> MODELS = List.of("qwen35", "glm4moe", "qwen35moe", "qwen3next");
    private static final double FLOATS = 1e-8;
    /// Where activations are rounded to 8 bits.
    private static final double ROUNDED = 1e-2;
    /// Where those of many rows are rounded to float16.
    private static final double NEARLY = 1e-4;

    private static final DeviceOptions HOST = DeviceOptions.builder().threads(2).build();
    private static final DeviceOptions ORIN = DeviceOptions.builder()
            .deviceId("emulated")
            .settings(Map.of("nv-tegra.kernels", "stand-ins"))
            .build();

    /// What computes, and how well.
    ///
    /// @param kernels of other bundles
    /// @param limit largest NMSE
    private record Machine(Backend backend, List<KernelProvider> kernels, DeviceOptions options, double limit) {
        boolean rounds() {
            return limit == ROUNDED;
        }
    }

    /// One model, its graph and its head on a machine.
    private record Case(String name, JsonNode json, Machine machine, Plan trunk, Plan head, boolean states) {
        void run() {
            for (JsonNode sequence : json.get("sequences")) {
                String length = sequence.get("name").asText();
                if (!length.equals("len1")) {
                    run(sequence, length);
                }
            }
        }

        private void run(JsonNode sequence, String length) {
            int[] ids = GoldenData.ints(sequence.get("ids"));
            float[] states = truth(length, "h_target");
            int width = states.length / ids.length;
            double limit = machine.rounds()
                    ? Math.max(
                            ROUNDED,
                            3 * sequence.at("/nmse_native_vs_f64/logits_prompt").asDouble())
                    : machine.limit();
            StepInput input = step(trunk, this.states);
            for (int t = 0; t < ids.length; t++) {
                input.addToken(ids[t], t, t == ids.length - 1);
            }
            StepResult result = trunk.run(input);
            assertEquals(ids.length, result.rows(Graph.HIDDEN_ROWS));
            close(length + " model", rows(result, Graph.HIDDEN_ROWS, ids.length, width), states, limit);

            input = step(head, false);
            for (int t = 0; t < ids.length; t++) {
                input.addToken(ids[t], t, true, t == 0 ? null : row(states, t - 1, width));
            }
            float[] got = rows(head.run(input), Graph.HIDDEN, ids.length, width);
            close(length + " prompt", got, truth(length, "h_prompt"), limit);
            guess(sequence, length, ids.length, row(states, ids.length - 1, width), limit);
        }

        /// Each guess goes on from the one before it.
        private void guess(JsonNode sequence, String length, int prompt, float[] last, double limit) {
            int[] expected = GoldenData.ints(sequence.get("draft"));
            float[] logits = truth(length, "logits_draft");
            float[] states = truth(length, "h_draft");
            double deviation = sequence.get("logit_std").asDouble();
            int token = sequence.get("next").asInt();
            float[] state = last;
            for (int k = 0; k < expected.length; k++) {
                StepInput input = step(head, false);
                input.addToken(token, prompt + k, true, state);
                StepResult result = head.run(input);
                float[] got = new float[logits.length / expected.length];
                result.logits(0, got);
                state = rows(result, Graph.HIDDEN, 1, last.length);
                if (!machine.rounds()) {
                    String what = length + " guess " + k;
                    close(what, got, Arrays.copyOfRange(logits, k * got.length, (k + 1) * got.length), limit);
                    close(what + " state", state, row(states, k, last.length), limit);
                }
                token = expected[k];
                double margin = sequence.get("draft_margin").get(k).asDouble();
                if (margin > (machine.rounds() ? 0.1 : 1e-3) * deviation) {
                    assertEquals(token, best(got), name + " " + length + " guess " + k);
                }
            }
        }

        private static StepInput step(Plan plan, boolean states) {
            StepInput input = new StepInput();
            int[] pages = IntStream.range(0, plan.kvPages().pageCount()).toArray();
            input.addSequence(pages, states ? 0 : StepInput.NO_SLOT);
            return input;
        }

        private static float[] rows(StepResult result, String output, int count, int width) {
            float[] all = new float[count * width];
            float[] row = new float[width];
            for (int r = 0; r < count; r++) {
                result.output(output, r, row);
                System.arraycopy(row, 0, all, r * width, width);
            }
            return all;
        }

        private static float[] row(float[] all, int row, int width) {
            return Arrays.copyOfRange(all, row * width, (row + 1) * width);
        }

        private static int best(float[] logits) {
            return IntStream.range(0, logits.length)
                    .reduce((a, b) -> logits[b] > logits[a] ? b : a)
                    .orElseThrow();
        }

        private float[] truth(String length, String what) {
            return GoldenData.floats(GoldenData.file("mtp/" + name + "-mtp.q8_0." + length + "." + what + "_f64.f32"));
        }

        private void close(String what, float[] got, float[] truth, double limit) {
            double error = GoldenData.nmse(got, truth, 0);
            System.out.printf("%s %s NMSE %.3g (limit %.3g)%n", name, what, error, limit);
            assertTrue(error <= limit, name + " " + what + ": NMSE " + error + " > " + limit);
        }
    }

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
        PlanOptions options = PlanOptions.builder(64)
                .maxBatchTokens(64)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        try (GgufFile file = GgufReader.open(
                        GoldenData.file("mtp/" + name + "-mtp.q8_0.gguf"), TensorTypes.of(GoldenData.FORMATS));
                Device device = machine.backend().open(machine.options());
                Plan trunk = compile(
                        device,
                        machine,
                        GoldenData.graph(file).withOutputs(List.of(Graph.LOGITS, Graph.HIDDEN_ROWS)),
                        file,
                        options);
                Plan head = compile(device, machine, GoldenData.head(file).orElseThrow(), file, options)) {
            if (machine.rounds()) {
                assumeTrue(
                        trunk.report().kernels().stream()
                                .anyMatch(step -> step.kernel().contains("avx")),
                        "no machine code here");
            }
            JsonNode json = GoldenData.json(GoldenData.file("mtp/" + name + "-mtp.q8_0.json"));
            new Case(name, json, machine, trunk, head, trunk.states().isPresent()).run();
        }
    }

    private static Plan compile(Device device, Machine machine, Graph graph, GgufFile file, PlanOptions options) {
        return device.compiler()
                .compile(CompileRequest.builder(graph, GoldenData.weights(file), options)
                        .kernels(machine.kernels())
                        .build());
    }
}
