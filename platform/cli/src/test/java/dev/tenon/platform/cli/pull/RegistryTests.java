package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.core.control.ModelRegistries;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Models of registries that bundles offer.
class RegistryTests extends PullServer {
    private static final String NAME = "corp:team/model:Q8_0";

    private final Map<String, ModelRegistry> registries = new TreeMap<>();
    private final List<String> asked = new ArrayList<>();

    private record Registry(String id, Function<String, List<RegistryFile>> answers) implements ModelRegistry {
        @Override
        public List<RegistryFile> files(String reference) {
            return answers.apply(reference);
        }
    }

    @BeforeEach
    void offer() {
        cli.registries = new ModelRegistries() {
            @Override
            public Optional<ModelRegistry> registry(String id) {
                return Optional.ofNullable(registries.get(id));
            }

            @Override
            public List<String> registries() {
                return List.copyOf(registries.keySet());
            }
        };
        offer("corp", file(url("/file.gguf"), content.length, sha256));
    }

    private void offer(String id, RegistryFile... files) {
        registries.put(id, new Registry(id, reference -> {
            asked.add(reference);
            if (reference.equals("nothing")) {
                throw new TenonException(ErrorCode.DOWNLOAD, id + " has no model '" + reference + "'.");
            }
            return List.of(files);
        }));
    }

    private static RegistryFile file(String uri, long size, String sha256) {
        return new RegistryFile(
                "deep/model.gguf", URI.create(uri), size, sha256, Map.of("Authorization", "Bearer key"));
    }

    private Path stored() {
        return folder.resolve("models/corp@3Ateam@2Fmodel@3AQ8_0/deep/model.gguf");
    }

    private TestCli.Result fails(String... args) {
        TestCli.Result result = cli.run(args);
        assertTrue(result.status() != 0, result::out);
        assertEquals(1, result.errLines(), result.err());
        return result;
    }

    @Test
    void aModelIsPulledWithTheHeadersOfItsRegistryAndFoundWithoutIt() throws IOException {
        TestCli.Result pulled = cli.run("pull", NAME);
        assertEquals(0, pulled.status(), pulled.err());
        assertEquals(stored() + "\n", pulled.out());
        assertTrue(pulled.err().contains("tenon run -m " + NAME), pulled.err());
        assertArrayEquals(content, Files.readAllBytes(stored()));
        assertEquals(List.of("team/model:Q8_0"), asked);
        assertEquals(List.of("/file.gguf null Bearer key"), requests);
        assertFalse(
                Files.readString(stored().resolveSibling("model.gguf.origin")).contains("key"));
        registries.clear();
        assertEquals(0, cli.run("inspect", NAME).status());
        assertEquals("model\n", cli.run("list", "-q").out());
        assertEquals(2, cli.run("inspect", "corp:team/model").status(), "another model");
        assertEquals(0, cli.run("rm", "-y", NAME).status());
        assertFalse(Files.exists(stored().getParent().getParent()));
    }

    @Test
    void headersGoToTheHostOfTheFileAlone() {
        offer("corp", file(url("/away.gguf"), -1, ""));
        server.createContext("/away.gguf", exchange -> {
            exchange.getResponseHeaders().add("Location", url("/file.gguf").replace("127.0.0.1", "localhost"));
            exchange.sendResponseHeaders(302, -1);
        });
        TestCli.Result pulled = cli.run("pull", NAME);
        assertEquals(0, pulled.status(), pulled.err());
        assertEquals(List.of("/file.gguf null null"), requests);
    }

    @Test
    void aChecksumOrSizeThatDiffersIsRefused() {
        offer("corp", file(url("/file.gguf"), -1, "0".repeat(64)));
        assertTrue(fails("pull", NAME).err().contains(sha256));
        offer("corp", file(url("/file.gguf"), 7, ""));
        assertTrue(fails("pull", NAME).err().contains("expected 7"));
        assertFalse(Files.exists(stored()));
    }

    @Test
    void aFileOfThisMachineIsUsedWhereItIsAndCopiedWhenItIsPulled() throws IOException {
        Path there = Files.write(folder.resolve("there.gguf"), content);
        offer("corp", file(there.toUri().toString(), -1, sha256));
        cli.inTerminal = true;
        cli.errTerminal = true;
        TestCli.Result used = cli.run("inspect", NAME);
        assertEquals(0, used.status(), used.err());
        assertFalse(used.err().contains("Download"), used.err());
        assertFalse(Files.exists(stored()));
        assertEquals(0, cli.run("pull", NAME).status());
        assertArrayEquals(content, Files.readAllBytes(stored()));
        assertTrue(cli.run("pull", NAME).err().contains("It exists already."));
        Files.delete(there);
        assertTrue(fails("pull", NAME, "-y").err().contains("does not exist"));
        assertEquals(0, cli.run("inspect", NAME).status(), "the copy is used");
        assertEquals(List.of(), requests);
    }

    @Test
    void aModelThatIsNotHereIsDownloadedIfTheUserAgrees() {
        assertTrue(fails("inspect", NAME).err().contains("Get it with: tenon pull " + NAME));
        cli.inTerminal = true;
        cli.errTerminal = true;
        cli.stdin = "y\n".getBytes(StandardCharsets.UTF_8);
        TestCli.Result used = cli.run("inspect", NAME);
        assertEquals(0, used.status(), used.err());
        assertTrue(used.err().contains("Model " + NAME + " is not here. Download it?"), used.err());
        assertTrue(Files.exists(stored()));
    }

    @Test
    void anUnknownModelIsRefusedInTheWordsOfTheRegistry() {
        assertEquals(
                "tenon: corp has no model 'nothing'. [IO-002]\n",
                fails("pull", "corp:nothing").err());
        assertEquals(
                "tenon: corp has no model 'nothing'. [IO-002]\n",
                fails("inspect", "corp:nothing").err());
    }

    @ParameterizedTest
    @CsvSource({"pull", "inspect"})
    void anUnknownRegistryIsRefusedWithThoseThatThereAre(String command) {
        TestCli.Result result = fails(command, "other:model");
        assertEquals(2, result.status());
        assertTrue(result.err().contains("no registry 'other' for other:model; there are corp, hf."), result.err());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aFileMayHaveTheFormOfAReference() throws IOException {
        Path file = Path.of("corp:file.gguf");
        try {
            Files.write(file, content);
            assertEquals(0, cli.run("inspect", file.toString()).status());
            assertEquals(List.of(), asked);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void aRegistryThatFailsIsNamed() {
        registries.put("corp", new Registry("corp", reference -> List.of(file("ftp://example.org/a", -1, ""))));
        assertTrue(fails("pull", NAME).err().contains("The registry 'corp' failed at " + NAME));
        registries.put("corp", new Registry("corp", reference -> null));
        assertTrue(fails("pull", NAME).err().contains("The registry 'corp' failed at " + NAME));
        registries.put("corp", new Registry("corp", reference -> List.of()));
        assertTrue(fails("pull", NAME).err().contains("expected at least one of a model, each once"));
        RegistryFile twice = file(url("/file.gguf"), -1, "");
        registries.put("corp", new Registry("corp", reference -> List.of(twice, twice)));
        assertTrue(fails("pull", NAME).err().contains("expected at least one of a model, each once"));
        registries.put("corp", new Registry("corp", reference -> List.of(file("http://192.0.2.1/a", -1, ""))));
        assertTrue(fails("pull", NAME).err().contains("expected https, or http of this machine"));
        assertEquals(List.of(), requests);
    }

    @Test
    void anotherBundleMayBeTheHub() throws IOException {
        assertEquals(0, cli.run("pull", "org/repo").status());
        offer("hf", file(url("/other/hub.gguf"), -1, ""));
        TestCli.Result pulled = cli.run("pull", "hf:org/repo:Q8_0");
        assertEquals(0, pulled.status(), pulled.err());
        assertEquals(List.of("org/repo:Q8_0"), asked);
        assertEquals(folder.resolve("models/org/repo/deep/model.gguf") + "\n", pulled.out());
    }

    @Test
    void theFirstArgumentOfRunIsAModelIfItsRegistryIsThere() throws IOException {
        offer(
                "corp",
                file(Files.write(folder.resolve("there.gguf"), content).toUri().toString(), -1, ""));
        cli.run("run", NAME, "Why?");
        assertEquals(folder.resolve("there.gguf"), cli.engine.loads.getLast().path());
        TestCli.Result result = fails("run", "other:model", "Why?");
        assertTrue(result.err().contains("neither a file nor a pulled model"), result.err());
    }
}
