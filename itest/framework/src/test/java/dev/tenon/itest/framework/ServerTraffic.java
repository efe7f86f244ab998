package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Clients that ask a server again and again, each a question of its own kind, and compare each answer with the first.
final class ServerTraffic implements AutoCloseable {
    private static final String CHAT = "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"temperature\":0";
    private static final String TOOLS = ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\","
            + "\"parameters\":{\"type\":\"object\",\"properties\":{\"left\":{\"type\":\"boolean\"}},"
            + "\"required\":[\"left\"],\"additionalProperties\":false}}}],\"tool_choice\":\"required\"";

    /// A question: where, what, and what of the answer has to stay the same.
    private record Question(String path, String body, Function<String, String> part) {}

    private static final Map<String, Question> QUESTIONS = new LinkedHashMap<>();

    static {
        question("plain", "/v1/completions", "{\"prompt\":\"Once upon a time\",\"temperature\":0,\"max_tokens\":40}");
        question(
                "plain chat",
                "/v1/chat/completions",
                "{" + CHAT.formatted("The old house") + ",\"max_tokens\":24,\"ignore_eos\":true}");
        question(
                "stream",
                "/v1/chat/completions",
                "{" + CHAT.formatted("One day") + ",\"max_tokens\":60,\"ignore_eos\":true,\"stream\":true}");
        question(
                "long stream",
                "/v1/completions",
                "{\"prompt\":\"Lily wanted\",\"temperature\":0,\"max_tokens\":200,\"ignore_eos\":true,\"stream\":true}");
        question("tool", "/v1/chat/completions", "{" + CHAT.formatted("Look.") + TOOLS + ",\"max_tokens\":60}");
        question(
                "streamed tool",
                "/v1/chat/completions",
                "{" + CHAT.formatted("Look again.") + TOOLS + ",\"max_tokens\":60,\"stream\":true}");
        question("embedding", "/v1/embeddings", "{\"input\":\"A big red ball\"}");
        // Each server has the model loaded before it answers anything.
        QUESTIONS.put(
                "model",
                new Question("/v1/models/" + name(), null, body -> "loaded: " + body.contains("\"loaded\":true")));
    }

    /// Before a client asks again: questions that are answered at once would take a core from the server's streams.
    static final Duration PAUSE = Duration.ofMillis(10);

    private final RunningServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Future<Integer>> clients = new ArrayList<>();
    private final AtomicIntegerArray answers = new AtomicIntegerArray(QUESTIONS.size());
    private volatile boolean over;

    /// Asks each question once, undisturbed, then all of them at once until the end.
    ServerTraffic(RunningServer server) throws Exception {
        this.server = server;
        List<String> expected = new ArrayList<>();
        for (Question question : QUESTIONS.values()) {
            expected.add(ask(question));
        }
        int index = 0;
        for (Map.Entry<String, Question> each : QUESTIONS.entrySet()) {
            int own = index++;
            clients.add(threads.submit(() -> askAgainAndAgain(own, each.getKey(), each.getValue(), expected.get(own))));
        }
    }

    private static String name() {
        return Jars.model().getFileName().toString().replace(".gguf", "");
    }

    private static void question(String name, String path, String body) {
        QUESTIONS.put(name, new Question(path, body, ServerTraffic::text));
    }

    /// {@return an answer without what differs each time: ids, times and how it was cut into events}
    private static String text(String body) {
        if (!body.contains("data: ")) {
            return body.replaceAll("\"(id|created|created_at|cached_tokens)\":(\"[^\"]*\"|\\d+)", "");
        }
        return body.lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> line.replaceAll(".*?\"(?:content|text|arguments)\":\"((?:[^\"\\\\]|\\\\.)*)\".*", "$1"))
                .filter(line -> !line.startsWith("data: {"))
                .collect(Collectors.joining());
    }

    private String ask(Question question) throws Exception {
        HttpRequest request = question.body() == null
                ? HttpRequest.newBuilder(java.net.URI.create(server.address + question.path()))
                        .build()
                : server.post(question.path(), question.body());
        HttpResponse<String> answer = server.send(request);
        assertEquals(200, answer.statusCode(), answer::body);
        boolean stream = answer.body().contains("data: ");
        assertTrue(!stream || answer.body().endsWith("data: [DONE]\n\n"), () -> "cut: " + answer.body());
        return question.part().apply(answer.body());
    }

    private int askAgainAndAgain(int index, String name, Question question, String expected) throws Exception {
        int count = 0;
        for (; !over; count++) {
            try {
                assertEquals(expected, ask(question), name + ", answer " + count);
            } catch (java.io.IOException e) {
                throw new AssertionError(name + ", request " + count + " failed", e);
            }
            answers.incrementAndGet(index);
            Thread.sleep(PAUSE);
        }
        return count;
    }

    /// Waits until each client has got another answer.
    void awaitAnswers() throws Exception {
        for (int i = 0; i < clients.size(); i++) {
            int before = answers.get(i);
            while (answers.get(i) == before) {
                if (clients.get(i).isDone()) {
                    clients.get(i).get(); // throws why
                    throw new AssertionError("a client ended early");
                }
                Thread.sleep(1);
            }
        }
    }

    /// {@return number of answers of each kind}
    Map<String, Integer> end() throws Exception {
        over = true;
        Map<String, Integer> counts = new LinkedHashMap<>();
        int index = 0;
        for (String name : QUESTIONS.keySet()) {
            counts.put(name, clients.get(index++).get());
        }
        return counts;
    }

    @Override
    public void close() {
        over = true;
        threads.close();
    }
}
