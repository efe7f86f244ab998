package dev.tenon.platform.bench.suite.programs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.Unit;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Requantizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// `quant-sweep`: a model of 3 B parameters in six formats; beside them the perplexity of a trained
/// model in the same formats, which was trained at a higher precision than the file that it is made
/// of has.
final class QuantSweepProgram implements Program {
    private static final List<String> TYPES = List.of("Q4_K_M", "Q6_K", "Q8_0", "Q3_K_M", "Q5_K_M", "F16");
    private static final String TEXT = "heldout.txt";
    private static final int WINDOW = 512;
    private static final double PERPLEXITY_SECONDS = 6;
    private static final double PERPLEXITY_LIMIT = 120;
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String name() {
        return "quant-sweep";
    }

    @Override
    public String about() {
        return "Llama 3.2 3B in F16 to Q3_K: speed, memory, bandwidth; perplexity of the story model in the same formats";
    }

    @Override
    public int seconds() {
        return 220;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        boolean trained = run.attempt("perplexity", () -> run.files().trained());
        for (String type : TYPES) {
            ModelSpec spec = run.model("llama-3.2-3b", type);
            for (Backend backend : run.backends()) {
                int tokens = speed.tokensToDecode(spec, backend);
                speed.measure(
                        spec,
                        new ModelSpeed.Setup(backend, new BenchTest(0, tokens, 0), new BenchTest(64, 0, 0))
                                .withMemory(),
                        Place.NONE);
            }
            run.files().drop(spec);
            String testCase = "story model " + type + " perplexity";
            if (trained && run.hasTime(testCase, PERPLEXITY_SECONDS)) {
                run.attempt(testCase, () -> perplexity(run, type, testCase));
            }
        }
    }

    private static void perplexity(ProgramRun run, String type, String testCase) throws InterruptedException {
        Path made = run.options().madeModels().resolve("story-" + type + ".gguf");
        Path source = run.files().trained();
        try {
            Files.createDirectories(run.options().madeModels());
            TensorTypes types = TensorTypes.of(run.engine().formats());
            try (GgufFile in = GgufReader.open(source, types)) {
                Requantizer.quantize(
                        in,
                        GgufWriter.to(made).threads(run.options().team()).replaceExisting(true),
                        type,
                        run.engine().formats());
            }
            for (Backend backend : run.backends()) {
                List<String> command = new ArrayList<>(List.of("perplexity", "-m", made.toString(), "-f"));
                command.add(text(run).toString());
                command.addAll(List.of("-c", Integer.toString(WINDOW), "--json", "--backend", backend.id()));
                JsonNode answer = JSON.readTree(run.tenon().output(command, PERPLEXITY_LIMIT));
                run.add(
                        testCase,
                        backend.id(),
                        "perplexity",
                        Unit.PERPLEXITY,
                        answer.path("ppl").asDouble());
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "Perplexity is not measured: " + e.getMessage(), e);
        } finally {
            delete(made);
        }
    }

    private static Path text(ProgramRun run) throws IOException {
        if (!run.options().text().isEmpty()) {
            return Path.of(run.options().text());
        }
        Path file = run.options().madeModels().resolve(TEXT);
        if (!Files.exists(file)) {
            try (InputStream in = QuantSweepProgram.class.getResourceAsStream(TEXT)) {
                Files.copy(in, file);
            }
        }
        return file;
    }

    private static void delete(Path file) {
        if (Files.exists(file) && !file.toFile().delete()) {
            file.toFile().deleteOnExit();
        }
    }
}
