package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The PTX in the bundle: it is of these sources, it is there for every model of the usual formats,
/// and its kernels take the parameters that the planning gives them.
class PrebuiltTests {
    private static final Path SOURCES = Path.of("src/main/resources/dev/tenon/kernels/nvidia");
    private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+(\\w+)\\s*\\(([^)]*)\\)");
    private static final Pattern PARAMETER = Pattern.compile("\\.param\\s+(?:\\.align\\s+\\d+\\s+)?\\.(\\w+)");
    private static final Map<String, Map<String, List<String>>> PARSED = new HashMap<>();

    @BeforeAll
    static void isThere() {
        assumeTrue(
                PrebuiltTests.class.getResource("/dev/tenon/kernels/nvidia/prebuilt/sources.sha256") != null,
                "no PTX has been made yet: run kernels/nvidia/prebuild.sh where nvcc is installed");
    }

    /// The file's hash is that of `prebuild.sh`: each source's name, a line end and its text, in
    /// the order of names.
    @Test
    void isMadeOfTheseSources() throws Exception {
        assumeTrue(Files.isDirectory(SOURCES), "the tests do not run in the module's folder");
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (Stream<Path> files = Files.list(SOURCES)) {
            for (Path file : files.filter(
                            f -> f.toString().endsWith(".cu") || f.toString().endsWith(".cuh"))
                    .sorted((a, b) ->
                            a.getFileName().toString().compareTo(b.getFileName().toString()))
                    .toList()) {
                digest.update((file.getFileName() + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(Files.readAllBytes(file));
            }
        }
        String recorded =
                Files.readString(SOURCES.resolve("prebuilt/sources.sha256")).strip();
        assertEquals(
                HexFormat.of().formatHex(digest.digest()),
                recorded,
                "the sources have changed since the prebuilt PTX was made: run kernels/nvidia/prebuild.sh");
    }

    @TestFactory
    Stream<DynamicTest> everyLaunchOfAModelFindsItsKernel() {
        List<String> pairs = new ArrayList<>();
        DeviceFormat.nativeIds().forEach(id -> pairs.add(id + " " + id));
        pairs.addAll(List.of("Q4_K Q6_K", "Q5_K Q6_K", "Q3_K Q5_K", "Q2_K Q3_K"));
        return pairs.stream()
                .flatMap(pair -> Stream.of(TestGraphs.HOPPER.asOldest(), new DeviceTraits(8, 9, 128, 101376).asOldest())
                        .map(traits -> DynamicTest.dynamicTest(
                                pair + ", " + traits.sharedBytes() + " bytes shared",
                                () -> launches(pair.split(" "), traits))));
    }

    private static void launches(String[] formats, DeviceTraits traits) throws IOException {
        for (boolean fuse : new boolean[] {true, false}) {
            TestGraphs t = new TestGraphs();
            List<Graph> graphs = new ArrayList<>(List.of(t.decoder(formats[0], formats[1], true)));
            if (formats[0].equals(formats[1])) {
                graphs.add(t.experts(formats[0], 8, 2, true));
            }
            for (Graph graph : graphs) {
                check(t, fuse ? Fusion.fuse(graph, KernelSupport::isFused) : graph.expanded(), traits);
            }
        }
    }

    private static void check(TestGraphs t, Graph graph, DeviceTraits traits) throws IOException {
        PlannedGraph planned = t.plan(graph, TestGraphs.options(256, 16), traits, MvSchedule.DEFAULT.forPrebuilt());
        for (Launch launch : planned.launches(StepShape.of(2, 2, 2).sampling(40))) {
            check(launch, traits);
        }
        for (int rows : new int[] {1, 2, 4, 8, 16, 64, 256}) {
            for (boolean decode : new boolean[] {false, true}) {
                StepShape shape = new StepShape(rows, Math.min(rows, 16), decode && rows > StepShape.FEW);
                for (Launch launch : planned.launches(shape)) {
                    check(launch, traits);
                }
            }
        }
    }

    private static void check(Launch launch, DeviceTraits traits) throws IOException {
        List<String> parameters = entries(launch.module(), traits).get(launch.entry());
        assertNotNull(parameters, () -> "prebuilt " + launch.module().name() + " has no " + launch.entry());
        List<String> given = launch.arguments().stream()
                .map(argument -> switch (argument) {
                    case Argument.Address _ -> "u64";
                    case Argument.Long _ -> "u64";
                    case Argument.Int _ -> "u32";
                    case Argument.Float _ -> "f32";
                })
                .toList();
        assertEquals(parameters, given, () -> "parameters of " + launch.entry());
    }

    /// The kernels of a module with the types of their parameters.
    private static Map<String, List<String>> entries(KernelModule module, DeviceTraits traits) throws IOException {
        String key = module.name() + traits.architecture();
        Map<String, List<String>> known = PARSED.get(key);
        if (known == null) {
            byte[] ptx = KernelCatalogue.prebuilt(module)
                    .orElseThrow(() -> new AssertionError(
                            "there is no prebuilt " + module.name() + ": run kernels/nvidia/prebuild.sh"));
            known = new HashMap<>();
            Matcher entry = ENTRY.matcher(new String(ptx, StandardCharsets.UTF_8));
            while (entry.find()) {
                List<String> types = new ArrayList<>();
                Matcher parameter = PARAMETER.matcher(entry.group(2));
                while (parameter.find()) {
                    types.add(parameter.group(1).replace('b', 'u').replace('s', 'u'));
                }
                known.put(entry.group(1), types);
            }
            assertTrue(!known.isEmpty(), module.name() + " has no kernels");
            PARSED.put(key, known);
        }
        return known;
    }
}
