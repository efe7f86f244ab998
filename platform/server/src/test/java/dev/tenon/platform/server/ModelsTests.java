package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.server.models.ModelSpec;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Models that are loaded when they are asked for. The limit on time ends a hang.
@Timeout(120)
class ModelsTests {
    private static final String ASK =
            "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"max_tokens\":2}";

    private static List<ModelSpec> two() {
        return Stream.of("one", "two")
                .map(name -> ModelSpec.of(
                        name,
                        LoadRequest.builder(ServerFixture.MODEL).threads(2).build()))
                .toList();
    }

    private static List<String> loaded(ServerFixture server) throws Exception {
        JsonNode data = ServerFixture.json(server.get("/v1/models").body()).get("data");
        return Stream.iterate(0, i -> i < data.size(), i -> i + 1)
                .map(data::get)
                .filter(model -> model.get("loaded").asBoolean())
                .map(model -> model.get("id").asText())
                .toList();
    }

    @Test
    void aModelIsLoadedWhenItIsAskedForAndUnloadedAfterItsTime() throws Exception {
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).keepAlive(Duration.ofMillis(200)))) {
            assertEquals(List.of("story"), loaded(server));
            assertEquals(
                    "one",
                    server.answer("/v1/chat/completions", ASK.formatted("one"))
                            .get("model")
                            .asText());
            while (!loaded(server).equals(List.of("story"))) {
                Thread.sleep(20);
            }
            assertEquals(
                    200,
                    server.post("/v1/chat/completions", ASK.formatted("one")).statusCode());
        }
    }

    @Test
    void whatWasNotAskedForTheLongestMakesRoom() throws Exception {
        long size = Files.size(ServerFixture.MODEL);
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).modelMemory(2 * size))) {
            server.answer("/v1/chat/completions", ASK.formatted("one"));
            assertEquals(List.of("story", "one"), loaded(server));
            server.answer("/v1/chat/completions", ASK.formatted("two"));
            assertEquals(List.of("story", "two"), loaded(server));
        }
    }

    @Test
    void aModelHasAliases() throws Exception {
        ModelSpec spec = new ModelSpec(
                "long-name", List.of("short", "gpt-4o"), LoadRequest.of(ServerFixture.MODEL), SamplingParams.greedy());
        try (ServerFixture server = new ServerFixture(b -> b.model(spec))) {
            assertEquals(
                    "long-name",
                    server.answer("/v1/chat/completions", ASK.formatted("gpt-4o"))
                            .get("model")
                            .asText());
            assertEquals(200, server.get("/v1/models/short").statusCode());
        }
    }

    @Test
    void twoRequestsForOneModelLoadItOnce() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.models(ModelsTests::two))) {
            Thread other = Thread.startVirtualThread(() -> {
                try {
                    server.answer("/v1/chat/completions", ASK.formatted("one"));
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            server.answer("/v1/chat/completions", ASK.formatted("one"));
            other.join();
            assertEquals(2, server.engine.models().size());
            assertTrue(loaded(server).contains("one"));
            assertFalse(loaded(server).contains("two"));
        }
    }
}
