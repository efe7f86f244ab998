package dev.tenon.platform.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/// A server with the model of the distribution, and a client.
final class ServerFixture implements AutoCloseable {
    static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private static final ObjectMapper MAPPER = new ObjectMapper();

    final Engine engine;
    final TenonServer server;
    final HttpClient client = HttpClient.newHttpClient();

    /// @param options changes the builder
    ServerFixture(Consumer<ServerBuilder> options) {
        this(Map.of(), options);
    }

    /// @param settings of the platform
    /// @param options changes the builder
    ServerFixture(Map<String, String> settings, Consumer<ServerBuilder> options) {
        this(settings, engine -> engine, options);
    }

    /// @param settings of the platform
    /// @param seen makes the engine that the server gets
    /// @param options changes the builder
    ServerFixture(
            Map<String, String> settings, Function<StandaloneEngine, Engine> seen, Consumer<ServerBuilder> options) {
        StandaloneEngine own = StandaloneEngine.create(settings);
        engine = seen.apply(own);
        ServerBuilder builder = TenonServer.builder(engine)
                .port(0)
                .context(512)
                .model("story", LoadRequest.builder(MODEL).threads(2).build());
        options.accept(builder);
        server = builder.start();
    }

    ServerFixture() {
        this(builder -> {});
    }

    URI uri(String path) {
        return URI.create(server.address() + path);
    }

    static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws Exception {
        return send(HttpRequest.newBuilder(uri(path)));
    }

    HttpRequest.Builder request(String path, String body) {
        return HttpRequest.newBuilder(uri(path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    HttpResponse<String> post(String path, String body) throws Exception {
        return send(request(path, body));
    }

    /// {@return the answer, which has to have status 200}
    JsonNode answer(String path, String body) throws Exception {
        HttpResponse<String> response = post(path, body);
        if (response.statusCode() != 200) {
            throw new AssertionError(response.statusCode() + " " + response.body());
        }
        return json(response.body());
    }

    /// {@return the error object of an answer, which has to have a status}
    JsonNode error(int status, String path, String body) throws Exception {
        HttpResponse<String> response = post(path, body);
        if (response.statusCode() != status) {
            throw new AssertionError(response.statusCode() + " " + response.body());
        }
        return json(response.body()).get("error");
    }

    /// {@return the data of the events of a stream, `[DONE]` left out}
    List<JsonNode> events(String path, String body) throws Exception {
        HttpResponse<String> response = post(path, body);
        if (response.statusCode() != 200) {
            throw new AssertionError(response.statusCode() + " " + response.body());
        }
        return data(response.body());
    }

    /// {@return the data of the events of a stream, `[DONE]` left out}
    static List<JsonNode> data(String stream) {
        return stream.lines()
                .filter(line -> line.startsWith("data: {"))
                .map(line -> json(line.substring(6)))
                .toList();
    }

    @Override
    public void close() {
        client.close();
        server.close();
        engine.close();
    }
}
