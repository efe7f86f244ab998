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
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.api.media.Sound;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.emulator.EmulatedOrinProvider;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.core.text.Tokenizers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/// Encoders of pictures and sounds give the truth of the golden files: what stands in a prompt, and the rows that the
/// model reads.
class MediaEncoderTests {
    /// Whose truth has the class of a picture where the models were trained with it.
    private static final Set<String> CLASS_FIRST = Set.of("vision/internvl", "vision/llava");

    private static final double FLOATS = 1e-9;
    private static final double FLOATS_HEARD = 1e-8;
    /// Where activations are rounded to 8 bits.
    private static final double ROUNDED = 5e-3;

    /// Where those of many rows are rounded to float16.
    private static final double NEARLY = 1e-5;

    private static final DeviceOptions HOST = DeviceOptions.builder().threads(2).build();
    private static final DeviceOptions ORIN = DeviceOptions.builder()
            .deviceId("emulated")
            .settings(Map.of("nv-tegra.kernels", "stand-ins"))
            .build();

    private static final String PLACE = "<__media__>";

    /// What computes, and how well.
    ///
    /// @param kernels of other bundles
    /// @param rounds to what activations are rounded
    private record Machine(Backend backend, List<KernelProvider> kernels, DeviceOptions options, Rounding rounds) {}

    private enum Rounding {
        NONE,
        F16,
        EIGHT_BITS
    }

    @TestFactory
    Stream<DynamicTest> theReferenceGivesTheTruth() {
        return on(new Machine(new ReferenceBackend(), List.of(), HOST, Rounding.NONE));
    }

    @TestFactory
    Stream<DynamicTest> theVectorApiGivesTheTruth() {
        return on(new Machine(new CpuVectorBackend(), List.of(), HOST, Rounding.NONE));
    }

    @TestFactory
    Stream<DynamicTest> machineCodeGivesTheTruth() {
        List<KernelProvider> kernels = ServiceLoader.load(KernelProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return on(new Machine(new CpuVectorBackend(), kernels, HOST, Rounding.EIGHT_BITS));
    }

    /// Long: an emulated instruction takes a thousand real ones.
    @Tag("long")
    @TestFactory
    Stream<DynamicTest> theEmulatedOrinGivesTheTruth() {
        NvTegraBackend orin = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
        return on(new Machine(orin, List.of(), ORIN, Rounding.F16));
    }

    private static Stream<DynamicTest> on(Machine machine) {
        return GoldenPictures.pairs().map(name -> DynamicTest.dynamicTest(name, () -> run(name, machine)));
    }

    private static void run(String name, Machine machine) throws IOException {
        try (GgufFile file = open(name + ".mmproj");
                GgufFile text = open(name + ".text");
                Device device = machine.backend().open(machine.options())) {
            EncoderDefinition encoder = encoder(file, text);
            int tokens = Math.min(encoder.mostTokens(), 4096);
            PlanOptions options = PlanOptions.builder(tokens)
                    .maxBatchTokens(tokens)
                    .keyType(KvType.F32)
                    .valueType(KvType.F32)
                    .build();
            try (Plan plan = device.compiler()
                    .compile(CompileRequest.builder(encoder.graph(), GoldenData.weights(file), options)
                            .kernels(machine.kernels())
                            .build())) {
                if (machine.rounds() == Rounding.EIGHT_BITS) {
                    assumeTrue(
                            plan.report().kernels().stream()
                                    .anyMatch(step -> step.kernel().contains("avx")),
                            "no machine code here");
                }
                Tokenizer tokenizer = Tokenizers.create(
                        text.metadata(),
                        ServiceLoader.load(TokenizerProvider.class).stream()
                                .map(ServiceLoader.Provider::get)
                                .toList());
                JsonNode json = GoldenData.json(GoldenData.file(name + ".json"));
                for (JsonNode prompt : json.get(name.startsWith("audio") ? "sounds" : "images")) {
                    check(name, prompt, machine, encoder, file, plan, tokenizer);
                }
            }
        }
    }

    private static void check(
            String name,
            JsonNode prompt,
            Machine machine,
            EncoderDefinition encoder,
            GgufFile file,
            Plan plan,
            Tokenizer tokenizer)
            throws IOException {
        boolean heard = prompt.has("sound");
        String shown = prompt.get(heard ? "sound" : "image").asText();
        Laid laid = new Laid(plan, encoder.width(), tokenizer);
        Map<String, float[]> tensors = new HashMap<>();
        EncoderTensors decoded = tensor -> tensors.computeIfAbsent(tensor, each -> decode(file, each));
        String[] texts = prompt.get("prompt").asText().split(PLACE, -1);
        for (int i = 0; i < texts.length; i++) {
            laid.text(texts[i]);
            if (i + 1 < texts.length) {
                switch (encoder.layout()) {
                    case MediaLayout.OfPictures pictures ->
                        pictures.lay(GoldenPictures.picture(shown.split("\\+")[i]), decoded, laid);
                    case MediaLayout.OfSounds sounds -> sounds.lay(sound(shown), decoded, laid);
                }
            }
        }
        assertEquals(expected(prompt.get("layout")), laid.parts, name + " " + shown);
        String order = CLASS_FIRST.contains(name) ? ".embd_cls_first_f64.f32" : ".embd_f64.f32";
        float[] truth = GoldenData.floats(GoldenData.file(name + "." + shown + order));
        // The files of some sounds hold the first rows alone.
        int rows = truth.length / encoder.width();
        assertTrue(heard ? rows <= laid.rows.size() : rows == laid.rows.size(), rows + " rows");
        float[] got = new float[truth.length];
        for (int r = 0; r < rows; r++) {
            System.arraycopy(laid.rows.get(r), 0, got, r * encoder.width(), encoder.width());
        }
        double error = GoldenData.nmse(got, truth, 0);
        double limit = switch (machine.rounds()) {
            case NONE -> heard ? FLOATS_HEARD : FLOATS;
            case F16 -> NEARLY;
            case EIGHT_BITS ->
                Math.max(ROUNDED, 3 * prompt.get("nmse_embd_native_vs_f64").asDouble());
        };
        System.out.printf("%s %s NMSE %.3g (limit %.3g)%n", name, shown, error, limit);
        assertTrue(error <= limit, name + " " + shown + ": NMSE " + error + " > " + limit);
    }

    /// {@return texts as ids, and how many rows stand between them}
    private static List<Object> expected(JsonNode layout) {
        List<Object> parts = new ArrayList<>();
        for (JsonNode each : layout) {
            if (each.has("ids")) {
                for (int id : GoldenData.ints(each.get("ids"))) {
                    parts.add(id);
                }
            } else {
                parts.add("rows " + each.get("n_tokens").asInt());
            }
        }
        return parts;
    }

    /// What a layout says.
    private static final class Laid implements MediaPrompt {
        private final Plan plan;
        private final int width;
        private final Tokenizer tokenizer;
        final List<Object> parts = new ArrayList<>();
        final List<float[]> rows = new ArrayList<>();

        Laid(Plan plan, int width, Tokenizer tokenizer) {
            this.plan = plan;
            this.width = width;
            this.tokenizer = tokenizer;
        }

        @Override
        public void text(String text) {
            Arrays.stream(tokenizer.encode(text, parts.isEmpty(), true)).forEach(parts::add);
        }

        @Override
        public void token(String token) {
            parts.add(IntStream.range(0, tokenizer.vocabularySize())
                    .filter(id -> tokenizer.piece(id).equals(token)
                            || new String(tokenizer.bytes(id), StandardCharsets.UTF_8).equals(token))
                    .findFirst()
                    .orElseThrow());
        }

        @Override
        public void rows(EncoderStep step, int columns, boolean together) {
            StepInput input = new StepInput();
            input.addSequence(IntStream.range(0, plan.kvPages().pageCount()).toArray());
            step.addTo(input);
            StepResult result = plan.run(input);
            assertEquals(step.results(), result.rows());
            for (int r = 0; r < result.rows(); r++) {
                rows.add(new float[width]);
                result.logits(step.result(r), rows.getLast());
            }
            parts.add("rows " + result.rows());
        }

        @Override
        public void lines(EncoderStep step, int columns, float[] between) {
            int first = rows.size();
            rows(step, columns, false);
            for (int line = step.results() / columns - 1; line > 0; line--) {
                rows.add(first + line * columns, between.clone());
            }
            parts.removeLast();
            parts.add("rows " + (rows.size() - first));
        }
    }

    private static float[] decode(GgufFile file, String tensor) {
        TensorInfo info = file.tensor(tensor).orElseThrow(() -> new IllegalArgumentException("no tensor " + tensor));
        float[] values = new float[Math.toIntExact(info.elements())];
        GoldenData.weights(file).format(tensor).dequantize(file.data(info), 0, values, 0, values.length);
        return values;
    }

    private static EncoderDefinition encoder(GgufFile file, GgufFile text) {
        String id = file.metadata().requiredString("clip.projector_type");
        MediaEncoder encoder = ServiceLoader.load(MediaEncoder.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no bundle has encoder " + id));
        return encoder.define(GoldenData.source(file), ModelConfig.readShape(GoldenData.source(text), 10_000));
    }

    private static GgufFile open(String name) {
        return GgufReader.open(GoldenData.file(name + ".gguf"), TensorTypes.of(GoldenData.FORMATS));
    }

    private static Sound sound(String name) {
        return Sound.of(GoldenData.floats(GoldenData.file("audio/" + name + ".pcm.f32")), MelSpectrogram.RATE);
    }
}
