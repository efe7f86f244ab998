package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.folder.FolderStore;
import dev.tenon.platform.server.models.ModelSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The clients that people use, from npm and Maven. Long because it downloads them; what they need of an answer is
/// tested piece by piece in the other tests.
@Tag("long")
class RealClientsTests {
    @TempDir
    Path folder;

    @Test
    void clientsOfNpmUnderstandTheServer() throws Exception {
        ClientProgram program = new ClientProgram(folder);
        program.install(Path.of("src/test/clients"), "package.json", "clients.mjs", "pictures.mjs");
        requireClean(program, "node", "clients.mjs");
        SeeingEngine seeing = new SeeingEngine();
        try (ServerFixture server = new ServerFixture(
                Map.of("prefer.chat", SeeingEngine.class.getName()),
                seeing::over,
                b -> b.keys(ApiKeys.of(List.of("key"))))) {
            assertEquals(0, program.run("node", "pictures.mjs", server.server.address()), program::output);
        }
        assertEquals(
                Set.of(
                        "openai chat",
                        "openai responses",
                        "anthropic messages",
                        "ollama chat",
                        "ai text",
                        "langchain chat"),
                seeing.asked);
    }

    /// Each has a class path of its own: they want different versions of the same libraries.
    @ParameterizedTest
    @CsvSource({
        "OpenAiClient, com.openai, openai-java, 4.101.0",
        "LangChainClient, dev.langchain4j, langchain4j-open-ai, 1.19.0",
        "SpringClient, org.springframework.ai, spring-ai-openai, 2.0.1"
    })
    void clientsOfMavenUnderstandTheServer(String program, String group, String artifact, String version)
            throws Exception {
        for (String file : List.of("pom.xml", program + ".java", "Checks.java")) {
            Files.copy(Path.of("src/test/clients/java").resolve(file), folder.resolve(file));
        }
        String repository = System.getProperty("maven.repo.local", "");
        ClientProgram client = new ClientProgram(folder);
        int found = client.run(
                Path.of("../../mvnw").toAbsolutePath().toString(),
                "-B",
                "-ntp",
                repository.isEmpty() ? "-q" : "-Dmaven.repo.local=" + repository,
                "-f",
                folder.resolve("pom.xml").toString(),
                "-Dclient.group=" + group,
                "-Dclient.artifact=" + artifact,
                "-Dclient.version=" + version,
                "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath",
                "-Dmdep.outputFile=" + folder.resolve("class.path"));
        assumeTrue(found == 0, () -> "Skipped: Maven cannot fetch " + artifact + ". " + client.output());
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        requireClean(client, java, "-cp", Files.readString(folder.resolve("class.path")), program + ".java");
    }

    private void requireClean(ClientProgram client, String... line) throws Exception {
        FolderStore store = new FolderStore(
                Files.createDirectory(folder.resolve("models")),
                (name, file) ->
                        ModelSpec.of(name, LoadRequest.builder(file).threads(2).build()),
                ModelRegistries.of(null),
                null); // nothing is downloaded
        try (ServerFixture server = new ServerFixture(
                b -> b.embeddings(true).keys(ApiKeys.of(List.of("key"))).store(store))) {
            String[] all = Arrays.copyOf(line, line.length + 1);
            all[line.length] = server.server.address();
            assertEquals(0, client.run(all), client::output);
        }
    }
}
