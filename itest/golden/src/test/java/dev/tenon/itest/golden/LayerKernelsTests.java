package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Which kernels of the CPU backend a layer of each architecture has, for a decoded token as for a prompt, in the
/// golden models: those of the table in the test's resources, from which `docs/support.md` is made. A layer that
/// falls apart into more kernels, or gets by with fewer, changes the table.
class LayerKernelsTests {
    private static final String TABLE = "layer-kernels.txt";
    private static final Path SUPPORT = Path.of("../../docs/support.md");
    private static final Pattern LAYER = Pattern.compile("blk\\.(\\d+)\\..*");

    @Test
    void layersHaveTheKernelsOfTheTable() throws IOException {
        for (String folder : GoldenModel.FOLDERS) {
            assumeTrue(
                    GoldenData.shared("golden/" + folder).isPresent(),
                    folder + " is not part of the project as a whole and not beside it");
        }
        Map<String, Set<String>> found = new TreeMap<>();
        Set<String> slow = new TreeSet<>();
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            for (GoldenModel golden : GoldenModel.all()) {
                try (LoadedModel model = engine.load(LoadRequest.of(golden.path()))) {
                    List<PlanReport.Kernel> kernels = model.report().kernels();
                    found.computeIfAbsent(golden.json().get("arch").asText(), _ -> new TreeSet<>())
                            .addAll(layers(kernels));
                    kernels.stream()
                            .filter(kernel -> kernel.level() != Support.Level.FAST)
                            .forEach(kernel -> slow.add(row(kernel)));
                }
            }
        }
        List<String> lines = new ArrayList<>();
        found.forEach((architecture, layers) -> layers.forEach(layer -> lines.add(architecture + ": " + layer)));
        assertEquals(
                String.join("\n", pinned()),
                String.join("\n", lines),
                "kernels of layers differ from src/test/resources/" + TABLE + "; if the change is meant, change that"
                        + " file and renew docs/support.md");
        List<String> page = Files.readAllLines(SUPPORT);
        for (String row : slow) {
            assertTrue(
                    page.stream().anyMatch(line -> line.startsWith(row) && line.contains("| generic |")),
                    row + " ... runs without a fast kernel on the CPU, and docs/support.md does not say so");
        }
    }

    @Test
    void matricesOfEightFormatsAreFusedAsThoseOfOneAre() {
        Set<Integer> formats = new TreeSet<>();
        Path mix = GoldenData.file("models/llama-iq.iq_mix.gguf");
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(LoadRequest.of(mix));
                GgufFile file = GgufReader.open(mix, TensorTypes.standard())) {
            List<PlanReport.Kernel> kernels = model.report().kernels();
            assertEquals(Set.of("norm_qkv_rope attention linear_add norm_gate_up linear_add"), layers(kernels));
            for (PlanReport.Kernel kernel : kernels) {
                assertEquals(Support.Level.FAST, kernel.level(), kernel.toString());
            }
            file.tensors().stream()
                    .filter(tensor -> tensor.shape().size() > 1)
                    .forEach(tensor -> formats.add(tensor.ggmlType()));
        }
        assertTrue(formats.size() >= 8, formats + " are too few formats");
    }

    /// {@return how the row of an op or a format begins on the page}
    private static String row(PlanReport.Kernel kernel) {
        if (kernel.kernel().equals("evaluate.float64")) {
            return "| an op that a bundle defines, without a kernel ";
        }
        String format = kernel.kernel().replaceFirst("\\.(generic|scalar).*", "");
        return format.equals("plain") ? "| `" + kernel.op() + "`" : "| " + format.toUpperCase(Locale.ROOT) + " ";
    }

    /// {@return the kinds of the kernels of each layer, each sequence once}
    private static Set<String> layers(List<PlanReport.Kernel> kernels) {
        Map<Integer, List<String>> layers = new LinkedHashMap<>();
        int layer = -1;
        for (PlanReport.Kernel kernel : kernels) {
            Matcher matcher = LAYER.matcher(kernel.name());
            if (matcher.matches()) {
                layer = Integer.parseInt(matcher.group(1));
            } else if (kernel.op().matches("select_rows|pool") || kernel.name().startsWith("output_norm")) {
                break;
            }
            if (layer >= 0) {
                layers.computeIfAbsent(layer, _ -> new ArrayList<>()).add(kernel.op());
            }
        }
        return layers.values().stream().map(each -> String.join(" ", each)).collect(Collectors.toSet());
    }

    private static List<String> pinned() throws IOException {
        try (var in = LayerKernelsTests.class.getResourceAsStream("/" + TABLE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }
}
