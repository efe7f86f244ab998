package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The finished distribution serves, and lets running requests end when it is told to end.
class ServeIT {
    /// For start, load and end; seconds on an idle machine.
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    @Test
    void runningRequestsEndAfterSigtermAndTheStatusIsZero() throws Exception {
        Installation installation =
                Installation.copy(folder).with("TENON_LOG", "warn").with("TENON_SERVE_PORT", "0");
        Path err = folder.resolve("err.txt");
        Process process = installation.start(err, "serve");
        try (Deadline deadline = new Deadline(process, LIMIT);
                BufferedReader out = process.inputReader();
                HttpClient client = HttpClient.newHttpClient()) {
            String line = out.readLine();
            assertTrue(line != null && line.startsWith("Listening at http://127.0.0.1:"), () -> line + read(err));
            String address = line.substring("Listening at ".length());
            CompletableFuture<HttpResponse<String>> answer = client.sendAsync(
                    HttpRequest.newBuilder(URI.create(address + "/v1/completions"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"prompt\":\"Once\",\"max_tokens\":300,\"ignore_eos\":true}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            while (!metrics(client, address).contains("num_requests_running{model_name=\"story-qwen3-q4_k_m\"} 1")) {
                assertTrue(!answer.isDone(), "the request ended before it was seen to run");
            }
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-TERM", Long.toString(process.pid()))
                            .start()
                            .waitFor());
            HttpResponse<String> whole = answer.get();
            assertEquals(200, whole.statusCode(), whole::body);
            assertTrue(whole.body().contains("\"completion_tokens\":300"), whole::body);
            assertEquals(0, deadline.await(), () -> read(err));
        }
        assertEquals("", Files.readString(err));
    }

    private static String metrics(HttpClient client, String address) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create(address + "/metrics")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }
}
