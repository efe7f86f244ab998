package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

/// `tenon itest` with the jars that the examples' own builds made, and with jars that are no good.
///
/// Long: the examples are built by builds of their own.
@Tag("long")
class ItestCommandIT {
    @TempDir
    Path folder;

    private Platform platform;

    @BeforeEach
    void copyThePlatform() throws IOException {
        platform = new Platform(folder);
    }

    private Element report(Path file) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
    }

    @Test
    void theExamplesKeepTheirContracts() throws Exception {
        Path file = folder.resolve("itest.xml");
        Path models = Files.createDirectory(folder.resolve("models"));
        Files.writeString(models.resolve("small.gguf"), "GGUF");
        Platform.Ended ended = platform.end(
                folder,
                Map.of("TENON_FOLDER_MODELS", models.toString()),
                "itest",
                Platform.jar("format-ex5").toString(),
                Platform.jar("model-sandwich").toString(),
                Platform.jar("model-dyt").toString(),
                Platform.jar("backend-tracing").toString(),
                Platform.jar("endpoint-tokens").toString(),
                Platform.jar("generation-rules").toString(),
                Platform.jar("telemetry").toString(),
                Platform.jar("registry-folder").toString(),
                Platform.jar("reply-format").toString(),
                "--argument",
                "no-repeat=2",
                "--argument",
                "phrases=Dear reader",
                "--argument",
                "mirostat=3",
                "--argument",
                "folder=small",
                "--argument",
                "actions="
                        + Path.of("../../examples/reply-format/template.jinja").toAbsolutePath(),
                "--formats",
                "Q8_0",
                "--rounds",
                "10",
                "--report",
                file.toString());
        String text = String.join("\n", ended.lines());
        assertEquals(0, ended.status(), () -> text + "\n" + platform.errors());
        for (String expected : List.of(
                "org.example.ex5 1.0.0: QuantFormat",
                "format EX5",
                "EX5 on backend cpu-vector",
                "org.example.sandwich 1.0.0: ModelArchitecture",
                "architecture sandwich",
                "kernels dynamic_tanh.java dynamic_tanh.cuda",
                "architecture dyt",
                "org.example.tracing 1.0.0: Backend",
                "backend tracing",
                "org.example.tokens 1.0.0: EndpointProvider",
                "end points tokens",
                "logits processor no-repeat",
                "constraint letters",
                "sampler mirostat",
                "proposer of tokens phrases",
                "format of replies actions",
                "listener Journal",
                "exporter StatsD",
                "settings of telemetry",
                "registry folder",
                "settings of folder registry",
                "    it needs an argument ('' is no list of ASCII characters, such as abc): give one by --argument")) {
            assertTrue(ended.lines().stream().anyMatch(line -> line.startsWith(expected)), expected + " in\n" + text);
        }
        Element suites = report(file);
        assertEquals("testsuites", suites.getTagName());
        // One more for each further backend that can work here, on which the format is tried too.
        assertTrue(suites.getElementsByTagName("testsuite").getLength() >= 5, text);
        assertEquals(0, suites.getElementsByTagName("failure").getLength(), text);
        int cases = suites.getElementsByTagName("testcase").getLength();
        assertTrue(cases > 300, cases + " cases");
    }

    @Test
    void anArchitectureThatDoesNotFitTheFileFails() throws Exception {
        Path llama = Path.of("../golden/src/test/resources/golden/models/llama-gqa.f16.gguf")
                .toAbsolutePath();
        Platform.Ended ended =
                platform.end("itest", Platform.jar("model-sandwich").toString(), "--model", llama.toString());
        assertEquals(1, ended.status(), ended.lines().toString());
        for (String expected : List.of("itsIdIsTheFilesArchitecture", "theWeightsAreTheFilesTensorsInNameAndShape")) {
            assertTrue(ended.lines().contains("FAILED " + expected), expected + " in " + ended.lines());
        }
    }

    @Test
    void ofSeveralArchitecturesThatOfTheFileIsTested() throws Exception {
        Path qwen3 = Path.of("../golden/src/test/resources/golden/models/qwen3.q8_0.gguf")
                .toAbsolutePath();
        Path bundle = Platform.DISTRIBUTION.resolve("bundles/tenon-models-qwen3-0.1.0.jar");
        Platform.Ended ended = platform.end("itest", bundle.toString(), "--model", qwen3.toString());
        assertEquals(0, ended.status(), ended.lines().toString());
        assertTrue(
                ended.lines().contains("architecture qwen2 is not tested: the file is of qwen3"),
                ended.lines().toString());
    }

    @Test
    void whatIsNoBundleIsRefusedWithTheReason() throws Exception {
        Path text = Files.writeString(folder.resolve("text.jar"), "not a jar");
        refused(text, "BUNDLE-001", "cannot be read as a jar");
        refused(folder.resolve("missing.jar"), "BUNDLE-001", "There is no file");
        refused(jar("plain.jar"), "BUNDLE-001", "no Bundle-SymbolicName");
    }

    @Test
    void aBundleThatDoesNotResolveOrOffersNothingIsRefusedWithTheReason() throws Exception {
        refused(
                jar(
                        "needs.jar",
                        "Bundle-ManifestVersion: 2",
                        "Bundle-SymbolicName: needs.much",
                        "Import-Package: dev.tenon.api.quant;version=\"[9,10)\""),
                "BUNDLE-002",
                "(osgi.wiring.package=dev.tenon.api.quant)");
        refused(
                jar(
                        "starts.jar",
                        "Bundle-ManifestVersion: 2",
                        "Bundle-SymbolicName: starts.not",
                        "Bundle-Activator: no.such.Activator"),
                "BUNDLE-002",
                "no.such.Activator");
        refused(
                jar("empty.jar", "Bundle-ManifestVersion: 2", "Bundle-SymbolicName: offers.nothing"),
                "ITEST-001",
                "it offers no services. Is @Component missing");
    }

    private void refused(Path jar, String code, String reason) throws Exception {
        Platform.Ended ended = platform.end("itest", jar.toString());
        assertEquals(1, ended.status(), ended.lines().toString());
        List<String> errors = platform.errors()
                .lines()
                .filter(line -> line.startsWith("tenon: "))
                .toList();
        assertTrue(errors.getLast().endsWith("[" + code + "]"), errors.toString());
        assertTrue(errors.getLast().contains(reason), errors.toString());
    }

    private Path jar(String name, String... headers) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        for (String header : headers) {
            manifest.getMainAttributes().putValue(header.split(": ", 2)[0], header.split(": ", 2)[1]);
        }
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            new JarOutputStream(out, manifest).close();
        }
        return file;
    }
}
