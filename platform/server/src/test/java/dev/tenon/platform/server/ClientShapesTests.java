package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the clients of npm send, as recorded in November 2026: chats, streams, tools and their results, schemas,
/// vectors. Texts and lists of tools are shortened, and each reply has a limit. The limit on time ends a hang.
@Timeout(120)
class ClientShapesTests {
    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(builder -> builder.embeddings(true));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /// A request of a client.
    private record Shape(String client, int line, JsonNode request) {
        @Override
        public String toString() {
            return client + ":" + line + " " + request.get("path").asText();
        }
    }

    static List<Shape> shapes() throws IOException, URISyntaxException {
        Path folder = Path.of(Objects.requireNonNull(ClientShapesTests.class.getResource("clients"))
                .toURI());
        List<Shape> shapes = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                int line = 0;
                for (String request : Files.readAllLines(file)) {
                    shapes.add(new Shape(file.getFileName().toString(), ++line, ServerFixture.json(request)));
                }
            }
        }
        return shapes;
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void aClientIsAnswered(Shape shape) throws Exception {
        String path = shape.request().get("path").asText();
        JsonNode body = shape.request().get("body");
        HttpRequest.Builder request = server.request(path, body.toString());
        if (shape.request().has("beta")) {
            request.header("anthropic-beta", shape.request().get("beta").asText());
        }
        HttpResponse<String> answer = server.send(request);
        int status = shape.request().path("status").asInt(200);
        assertEquals(status, answer.statusCode(), answer::body);
        String text = answer.body();
        boolean ollama = path.equals("/api/chat") || path.equals("/api/generate");
        if (body.path("stream").asBoolean(ollama) && status == 200) {
            assertTrue(isWhole(path, text), text);
            assertFalse(text.contains("\"error\":{") || text.contains("\"error\":\""), text);
        } else {
            assertTrue(ServerFixture.json(text).isObject(), text);
            assertEquals(status != 200, ServerFixture.json(text).hasNonNull("error"), text);
        }
    }

    /// {@return whether a stream has the end that its wire says}
    private static boolean isWhole(String path, String text) {
        if (path.startsWith("/api/")) {
            return text.strip().lines().toList().getLast().contains("\"done\":true");
        }
        return switch (path.replaceFirst("\\?.*", "")) {
            case "/v1/messages" -> text.contains("event: message_stop\n");
            case "/v1/responses" ->
                text.contains("event: response.completed\n") || text.contains("event: response.incomplete\n");
            default -> text.endsWith("data: [DONE]\n\n");
        };
    }
}
