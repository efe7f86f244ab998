package dev.tenon.platform.tools;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Merge;
import dev.tenon.platform.tools.gguf.Requantizer;
import dev.tenon.platform.tools.gguf.SynthShape;
import dev.tenon.platform.tools.gguf.TestFormats;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The commands as the command line runs them, with a console and an engine that know only what is needed.
class ToolCommandTests {
    private static final int FAILED = 99;
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @TempDir
    Path folder;

    private final List<String> notes = new ArrayList<>();
    private final StringWriter asked = new StringWriter();
    private String typed;
    private TenonException failure;

    private int run(String name, String... args) {
        Progress bar = fake(Progress.class, Map.of());
        Console console = (Console) Proxy.newProxyInstance(
                Console.class.getClassLoader(),
                new Class<?>[] {Console.class},
                (proxy, method, given) -> switch (method.getName()) {
                    case "progress" -> bar;
                    case "model" -> Path.of((String) given[0]);
                    case "note" -> {
                        notes.add((String) given[0]);
                        yield null;
                    }
                    case "inIsTerminal", "errIsTerminal" -> typed != null;
                    case "in" -> new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8));
                    case "err" -> new PrintWriter(asked, true);
                    default -> {
                        if (!method.isDefault()) {
                            throw new UnsupportedOperationException(method.toString());
                        }
                        yield InvocationHandler.invokeDefault(proxy, method, given);
                    }
                });
        Engine engine =
                fake(Engine.class, Map.of("formats", TestFormats.all(), "architectures", TestFormats.architectures()));
        TenonCommand command;
        if (name.equals("synth")) {
            SynthCommand synth = new SynthCommand();
            synth.engine = engine;
            command = synth;
        } else {
            QuantizeCommand quantize = new QuantizeCommand();
            quantize.engine = engine;
            command = quantize;
        }
        CommandLine line = new CommandLine(CommandSpec.wrapWithoutInspection(console));
        line.addSubcommand(name, command);
        line.setExecutionExceptionHandler((e, c, result) -> {
            failure = (TenonException) e;
            return FAILED;
        });
        String[] all = new String[args.length + 1];
        all[0] = name;
        System.arraycopy(args, 0, all, 1, args.length);
        return line.execute(all);
    }

    private static <T> T fake(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> answers.get(method.getName())));
    }

    private Path synth() {
        Path file = folder.resolve("tiny.gguf");
        String options = "--type Q8_0 --layers 1 --embedding 32 --heads 4 --heads-kv 2 --head-length 8"
                + " --feed-forward 64 --vocab 300 --context 128 -t 1 -o";
        List<String> args = new ArrayList<>(List.of("llama-3.2-1b"));
        args.addAll(List.of(options.split(" ")));
        args.add(file.toString());
        assertEquals(0, run("synth", args.toArray(String[]::new)), String.valueOf(failure));
        return file;
    }

    @Test
    void synthWritesTheNumbersOfAShapeInAnotherArchitecture() {
        Path file = folder.resolve("other.gguf");
        String options = "qwen3-0.6b --type F16 --layers 1 --embedding 32 --feed-forward 64 --vocab 300 --arch llama"
                + " --key rope.scaling.type=linear --key rope.scaling.factor=2.5 --key odd=true"
                + " --key attention.head_count_kv=4 --tensor blk.*.attn_q.bias --tensor blk.*.unknown -o " + file;
        assertEquals(0, run("synth", options.split(" ")), String.valueOf(failure));
        try (GgufFile made = GgufReader.open(file, TensorTypes.of(TestFormats.all()))) {
            GgufMetadata metadata = made.metadata();
            assertEquals("llama", metadata.requiredString("general.architecture"));
            assertEquals("linear", metadata.requiredString("llama.rope.scaling.type"));
            assertEquals(2.5, metadata.requiredNumber("llama.rope.scaling.factor"));
            assertEquals(true, metadata.values().get("llama.odd").value());
            assertEquals(
                    List.of(2048L),
                    made.tensor("blk.0.attn_q.bias").orElseThrow().shape());
            assertEquals(
                    List.of(32L, 512L),
                    made.tensor("blk.0.attn_k.weight").orElseThrow().shape());
            assertTrue(made.tensor("blk.0.attn_q_norm.weight").isEmpty());
            assertTrue(made.tensor("blk.0.unknown").isEmpty());
        }
        assertEquals(FAILED, run("synth", "qwen3-0.6b", "--arch", "klingon", "-o", file + "2"));
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, failure.code());
    }

    @Test
    void synthWritesTheHeadOfAModelThatHasOne() {
        Path file = folder.resolve("head.gguf");
        String options = "qwen3.5-4b --type F16 --layers 2 --embedding 32 --feed-forward 64 --vocab 300"
                + " --key nextn_predict_layers=1 -o " + file;
        assertEquals(0, run("synth", options.split(" ")), String.valueOf(failure));
        try (GgufFile made = GgufReader.open(file, TensorTypes.of(TestFormats.all()))) {
            assertEquals(
                    List.of(64L, 32L),
                    made.tensor("blk.1.nextn.eh_proj.weight").orElseThrow().shape());
        }
    }

    @Test
    void synthWritesAModelInTheWantedShape() {
        try (GgufFile file = GgufReader.open(synth(), TensorTypes.of(TestFormats.all()))) {
            assertEquals(
                    List.of(32L, 300L),
                    file.tensor("token_embd.weight").orElseThrow().shape());
            assertEquals("llama", file.metadata().string("general.architecture").orElseThrow());
        }
        assertTrue(notes.getFirst().contains("tiny.gguf: "), notes.toString());
    }

    @Test
    void unknownShapeIsAUsageErrorThatNamesTheShapes() {
        assertEquals(
                FAILED, run("synth", "llama-9", "-o", folder.resolve("x.gguf").toString()));
        assertEquals(ErrorCode.USAGE, failure.code());
        assertTrue(failure.getMessage().contains("qwen3-0.6b"), failure.getMessage());
    }

    @Test
    void theHelpOfSynthNamesEachShape() {
        String help = String.join(
                " ", SynthCommand.class.getAnnotation(CommandLine.Command.class).description());
        List<String> named = List.of(
                help.substring(help.indexOf(": ") + 2).replaceAll("\\.$", "").split(", "));
        assertEquals(SynthShape.presetNames(), named.stream().sorted().toList());
    }

    @Test
    void anUnknownFormatIsRefusedWithTheNamesOfOthers() {
        assertEquals(FAILED, run("quantize", "in.gguf", folder.resolve("q.gguf").toString(), "FOO"));
        assertTrue(failure.getMessage().contains("'FOO'. Choose one of "), failure.getMessage());
        assertTrue(failure.getMessage().contains("Q4_K_M, "), failure.getMessage());
        assertTrue(failure.getMessage().endsWith("[MODEL-006]"), failure.getMessage());
    }

    @Test
    void quantizeReplacesAFileOnlyWhenAsked() {
        String in = synth().toString();
        String out = folder.resolve("out.gguf").toString();
        assertEquals(0, run("quantize", in, out, "F16"), String.valueOf(failure));
        assertTrue(Files.exists(Path.of(out)));
        assertEquals(FAILED, run("quantize", in, out, "F16"));
        assertEquals(ErrorCode.IO, failure.code());
        assertTrue(failure.getMessage().contains("-y"), failure.getMessage());
        assertEquals(0, run("quantize", in, out, "F16", "-y"));
    }

    /// A matrix is changed by the product of the adapter's, all others stay as they were.
    @Test
    void quantizeMergesAdapters() {
        Path in = synth();
        Path adapter = folder.resolve("adapter.gguf");
        TensorType f32 = TensorTypes.standard().find(0).orElseThrow();
        float[] a = random(1, 2 * 32);
        float[] b = random(2, 32 * 2);
        GgufWriter.to(adapter)
                .put("general.type", GgufValue.of("adapter"))
                .put("general.architecture", GgufValue.of("llama"))
                .put("adapter.type", GgufValue.of("lora"))
                .put("adapter.lora.alpha", GgufValue.of(3f))
                .tensor("blk.0.attn_q.weight.lora_a", f32, List.of(32L, 2L), rows(a, 32))
                .tensor("blk.0.attn_q.weight.lora_b", f32, List.of(2L, 32L), rows(b, 2))
                .write();
        Path plain = folder.resolve("plain.gguf");
        Path merged = folder.resolve("merged.gguf");
        inF32(in, Map.of(), plain);
        inF32(in, Map.of(adapter, 0.5f), merged);
        try (GgufFile before = GgufReader.open(plain, TensorTypes.standard());
                GgufFile after = GgufReader.open(merged, TensorTypes.standard())) {
            assertEquals(before.tensors(), after.tensors());
            for (TensorInfo tensor : before.tensors()) {
                float[] expected = before.data(tensor).toArray(FLOAT);
                for (int i = 0; tensor.name().equals("blk.0.attn_q.weight") && i < expected.length; i++) {
                    int row = i / 32;
                    int col = i % 32;
                    double change = (double) b[2 * row] * a[col] + (double) b[2 * row + 1] * a[32 + col];
                    expected[i] = (float) (expected[i] + 0.5 * 3 / 2 * change);
                }
                assertArrayEquals(expected, after.data(tensor).toArray(FLOAT), 1e-6f, tensor.name());
            }
        }
        String out = merged.toString();
        assertEquals(
                0, run("quantize", "--lora", adapter + "=0.5", in.toString(), out, "F16", "-y"), () -> "" + failure);
        assertEquals(FAILED, run("quantize", "--lora", adapter + "=NaN", in.toString(), out, "F16", "-y"));
        assertEquals(ErrorCode.ARGUMENT, failure.code());
        assertEquals(FAILED, run("quantize", "--lora", in.toString(), in.toString(), out, "F16", "-y"));
        assertTrue(failure.code().startsWith("MODEL-00"), failure.getMessage());
    }

    private static void inF32(Path in, Map<Path, Float> adapters, Path out) {
        TensorTypes types = TensorTypes.of(TestFormats.all());
        try (GgufFile model = GgufReader.open(in, types);
                Merge merge = Merge.open(adapters, types, model)) {
            Requantizer.quantize(
                    model, merge, GgufWriter.to(out).threads(2).replaceExisting(true), "F32", TestFormats.all());
        }
    }

    private static float[] random(long seed, int count) {
        Random random = new Random(seed);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static GgufWriter.TensorWriter rows(float[] values, int cols) {
        return (target, first, rows) ->
                MemorySegment.copy(values, (int) first * cols, target, FLOAT, 0, (int) rows * cols);
    }

    @Test
    void onATerminalTheUserIsAsked() throws IOException {
        String in = synth().toString();
        Path out = Files.writeString(folder.resolve("out.gguf"), "old");
        for (String no : new String[] {"", "n\n", "yesterday\n"}) {
            typed = no;
            assertEquals(FAILED, run("quantize", in, out.toString(), "F16"), no);
            assertEquals("old", Files.readString(out));
        }
        assertTrue(asked.toString().contains(out + " exists. Replace it?"), asked.toString());
        typed = "Yes\n";
        assertEquals(0, run("quantize", in, out.toString(), "F16"));
        assertTrue(Files.size(out) > 3);
    }

    @Test
    void quantizeDoesNotReplaceItsSourceByAnyOfItsNames() throws IOException {
        Path in = synth();
        byte[] before = Files.readAllBytes(in);
        Path hard = Files.createLink(folder.resolve("hard.gguf"), in);
        Path soft = Files.createSymbolicLink(folder.resolve("soft.gguf"), in);
        for (Path out : List.of(in, hard, soft)) {
            assertEquals(FAILED, run("quantize", in.toString(), out.toString(), "F16", "-y"));
            assertEquals(ErrorCode.IO, failure.code());
            assertEquals(FAILED, run("quantize", out.toString(), in.toString(), "F16", "-y"));
            assertTrue(failure.getMessage().contains("is read"), failure.getMessage());
        }
        assertArrayEquals(before, Files.readAllBytes(in));
        assertTrue(Files.isSymbolicLink(soft));
    }

    @Test
    void quantizeReplacesNoPartOfASplitModel() throws IOException {
        Path in = Files.move(synth(), folder.resolve("m-00001-of-00002.gguf"));
        assertEquals(List.of(in, folder.resolve("m-00002-of-00002.gguf")), Requantizer.parts(in));
    }

    @Test
    void modelsReplaceNoPipeAndNoLink() throws Exception {
        Path in = synth();
        Path pipe = folder.resolve("pipe");
        assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "no mkfifo");
        Path old = Files.writeString(folder.resolve("old"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link"), old);
        for (Path out : List.of(pipe, link)) {
            assertEquals(FAILED, run("quantize", in.toString(), out.toString(), "F16", "-y"));
            assertEquals(ErrorCode.IO, failure.code());
            assertEquals(FAILED, run("synth", "llama-3.2-1b", "--layers", "1", "-y", "-o", out.toString()));
            assertEquals(ErrorCode.IO, failure.code());
        }
        assertEquals("old", Files.readString(old));
        assertTrue(Files.isSymbolicLink(link) && !Files.isRegularFile(pipe));
    }

    @Test
    void quantizeToAFormatThatIsNotInstalledIsRefused() {
        assertEquals(
                FAILED,
                run("quantize", synth().toString(), folder.resolve("o.gguf").toString(), "Q2_K"));
        assertEquals(ErrorCode.MODEL_TENSOR_FORMAT, failure.code());
    }
}
