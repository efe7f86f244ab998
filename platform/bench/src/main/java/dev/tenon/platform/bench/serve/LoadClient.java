package dev.tenon.platform.bench.serve;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/// Sends streamed chat requests to an endpoint of OpenAI's kind, and notes when their text comes. Safe for many
/// threads; each request blocks its own, which reads the socket itself: with a server on the same processors, what the
/// client takes is missing there.
public final class LoadClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String DATA = "data:";
    private static final int LONGEST_REASON = 120;

    private static final int OK = 200;

    private final URI base;
    private final Optional<String> key;
    private final int millis;

    /// @param base address of the API, such as `http://127.0.0.1:8080/v1`
    /// @param key what is sent as bearer token
    /// @param timeout longest time until an answer begins, and between two pieces of it
    public LoadClient(URI base, Optional<String> key, Duration timeout) {
        this.base = base;
        this.key = key;
        this.millis = Math.toIntExact(timeout.toMillis());
    }

    /// {@return the name of the first model that the server lists}
    ///
    /// @throws IOException if it lists none, or does not answer
    public String firstModel() throws IOException {
        HttpURLConnection answer = connection("/models");
        int status = answer.getResponseCode();
        JsonNode id = JSON.missingNode();
        if (status == OK) {
            try (InputStream in = answer.getInputStream()) {
                id = JSON.readTree(in).path("data").path(0).path("id");
            }
        }
        if (!id.isTextual()) {
            throw new IOException("it lists no models (status " + status + ")");
        }
        return id.asText();
    }

    /// Sends a request and reads its answer to the end.
    ///
    /// @param prompt the user's message
    /// @param maxTokens tokens of the answer
    public RequestTimes send(String model, String prompt, int maxTokens) {
        ObjectNode body = JSON.createObjectNode();
        body.put("model", model)
                .put("stream", true)
                .put("max_tokens", maxTokens)
                .put("temperature", 0);
        body.put("ignore_eos", true);
        body.putObject("stream_options").put("include_usage", true);
        body.putArray("messages").addObject().put("role", "user").put("content", prompt);
        byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
        long begin = System.nanoTime();
        try {
            HttpURLConnection answer = connection("/chat/completions");
            answer.setDoOutput(true);
            answer.setFixedLengthStreamingMode(bytes.length); // or it would send again what failed
            answer.setRequestProperty("Content-Type", "application/json");
            try (OutputStream out = answer.getOutputStream()) {
                out.write(bytes);
            }
            int status = answer.getResponseCode();
            if (status != OK) {
                answer.disconnect();
                return RequestTimes.failed("status " + status);
            }
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(answer.getInputStream(), StandardCharsets.UTF_8))) {
                return read(lines, begin);
            }
        } catch (IOException e) {
            return RequestTimes.failed(shortened(e.getMessage() == null ? e.toString() : e.getMessage()));
        }
    }

    private HttpURLConnection connection(String path) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(base + path).toURL().openConnection();
        connection.setConnectTimeout(millis);
        connection.setReadTimeout(millis);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        key.ifPresent(value -> connection.setRequestProperty("Authorization", "Bearer " + value));
        return connection;
    }

    private static RequestTimes read(BufferedReader lines, long begin) throws IOException {
        long[] gaps = new long[64];
        int events = 0;
        int counted = 0;
        long first = 0;
        long last = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.startsWith(DATA)) {
                continue;
            }
            long now = System.nanoTime();
            String data = line.substring(DATA.length()).strip();
            if (data.equals("[DONE]")) {
                int tokens = Math.max(counted, events);
                return events == 0
                        ? RequestTimes.failed("no text came")
                        : new RequestTimes(first - begin, last - begin, tokens, Arrays.copyOf(gaps, events - 1), null);
            }
            JsonNode event = parsed(data);
            if (event.hasNonNull("error")) {
                return RequestTimes.failed(
                        shortened(event.get("error").path("message").asText("an error event")));
            }
            counted = event.path("usage").path("completion_tokens").asInt(counted);
            if (hasText(event.path("choices").path(0).path("delta"))) {
                if (events == 0) {
                    first = now;
                } else {
                    if (events > gaps.length) {
                        gaps = Arrays.copyOf(gaps, 2 * gaps.length);
                    }
                    gaps[events - 1] = now - last;
                }
                events++;
                last = now;
            }
        }
        return RequestTimes.failed("the stream ended without [DONE]");
    }

    private static JsonNode parsed(String data) throws IOException {
        try {
            return JSON.readTree(data);
        } catch (JsonProcessingException e) {
            throw new IOException("an event is no JSON: " + shortened(data), e);
        }
    }

    private static boolean hasText(JsonNode delta) {
        return !delta.path("content").asText("").isEmpty()
                || !delta.path("reasoning_content").asText("").isEmpty()
                || !delta.path("reasoning").asText("").isEmpty();
    }

    private static String shortened(String text) {
        String line = text.lines().findFirst().orElse("");
        return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "…";
    }
}
