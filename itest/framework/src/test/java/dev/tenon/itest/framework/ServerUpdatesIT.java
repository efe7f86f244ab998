package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Formats, models, backend and the server's own bundle are updated while clients of all kinds ask `tenon serve`: no
/// request fails, and each answer is that of an undisturbed server.
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ServerUpdatesIT {
    private static final Logger LOG = LoggerFactory.getLogger(ServerUpdatesIT.class);
    private static final String SERVER_CLASS = "dev.tenon.platform.server.TenonServer";
    private static final List<String> PIECES =
            List.of(Manager.FORMATS, Manager.MODELS, Manager.BACKEND, Manager.SERVER);

    @TempDir
    Path folder;

    @Test
    void noRequestFailsAndNoTextChanges() throws Exception {
        serve(Duration.ZERO, 1);
    }

    /// Long because of 12 updates; 52, spread over 20 minutes, with `-Dtenon.itest.minutes=20`.
    @Test
    @Tag("long")
    void norDoesAnythingStayAfterManyUpdates() throws Exception {
        int minutes = Integer.getInteger("tenon.itest.minutes", 0);
        serve(Duration.ofMinutes(minutes), minutes == 0 ? 3 : 13);
    }

    /// One fails late in its start, the other has no command at all. Counts go on where the next one serves.
    @Test
    void aVersionThatCannotServeLeavesTheOldOneServing() throws Exception {
        Path ours = Jars.ours("platform-server");
        Path failing = Jars.failing(
                ours,
                folder.resolve("failing.jar"),
                "1.0.1",
                "dev.tenon.platform.server.models.ModelHost",
                "loadPinned");
        Path without = Jars.patched(
                Jars.ours("platform-serve"),
                folder.resolve("without.jar"),
                Map.of("Bundle-Version", "1.0.2", "Service-Component", ""));
        Installation installation = Installation.copy(folder);
        try (RunningServer server =
                new RunningServer(installation, Duration.ofMinutes(5), "--embeddings", "-c", "512")) {
            double before;
            try (ServerTraffic traffic = new ServerTraffic(server)) {
                traffic.awaitAnswers();
                HttpResponse<String> refusal = install(server, failing);
                assertEquals(409, refusal.statusCode(), refusal::body);
                assertTrue(
                        refusal.body()
                                .matches("(?s).*1\\.0\\.1: .*, which uses it, cannot take over the running command:"
                                        + " NullPointerException.* stays in use.*BUNDLE-002.*"),
                        refusal::body);
                traffic.awaitAnswers();
                Installation.Result refused = installation.tenon("bundles", "update", without.toString());
                assertEquals(1, refused.code(), refused::out);
                assertTrue(
                        refused.err()
                                .contains("1.0.2 cannot take over the running command: it offers no command 'serve'"),
                        refused::err);
                traffic.awaitAnswers();
                before = server.metric("generation_tokens_total");
                update(installation, Manager.SERVER, "1.0.3");
                traffic.awaitAnswers();
                traffic.end();
            }
            assertTrue(before > 0 && server.metric("generation_tokens_total") > before, "counts go on");
            assertEquals("", server.errors());
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private static HttpResponse<String> install(RunningServer server, Path jar) throws Exception {
        HttpResponse<String> answer =
                server.send(HttpRequest.newBuilder(URI.create(server.address + "/tenon/bundles/install"))
                        .header("Content-Type", "application/java-archive")
                        .POST(HttpRequest.BodyPublishers.ofFile(jar))
                        .build());
        while (answer.statusCode() == 202) {
            String id = answer.body().replaceAll(".*\"change\":\"([^\"]+)\".*", "$1");
            answer = server.get("/tenon/bundles/changes/" + id);
        }
        return answer;
    }

    private void serve(Duration time, int rounds) throws Exception {
        Installation installation = Installation.copy(folder);
        try (RunningServer server = new RunningServer(
                installation, Duration.ofMinutes(5).plus(time.multipliedBy(2)), "--embeddings", "-c", "512")) {
            long start = System.nanoTime();
            Map<String, Integer> answers;
            long[] before = null;
            try (ServerTraffic traffic = new ServerTraffic(server)) {
                for (int round = 1; round <= rounds; round++) {
                    for (int i = 0; i < PIECES.size(); i++) {
                        traffic.awaitAnswers();
                        update(installation, PIECES.get(i), "1.0." + round);
                        long due = time.toNanos() * ((round - 1) * PIECES.size() + i + 1) / (rounds * PIECES.size());
                        while (System.nanoTime() - start < due) {
                            traffic.awaitAnswers();
                        }
                    }
                    if (round == 1) {
                        before = new long[] {server.threads(), server.openFiles(), server.heapBytes()};
                    }
                }
                traffic.awaitAnswers();
                long[] after = {server.threads(), server.openFiles(), server.heapBytes()};
                answers = traffic.end();
                LOG.info(
                        "{} updates, answers {}, threads {} then {}, files {} then {}, heap {} then {} KiB",
                        rounds * PIECES.size(),
                        answers,
                        before[0],
                        after[0],
                        before[1],
                        after[1],
                        before[2] >> 10,
                        after[2] >> 10);
            }
            Osgi.await("nothing runs", () -> server.metric("num_requests_running") == 0);
            assertEquals(0, server.metric("num_requests_waiting"));
            Osgi.await("one server is left", () -> count(server.histogram()) == 1);
            assertEquals("", server.errors());
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private void update(Installation installation, String piece, String version) throws Exception {
        Path jar = Manager.version(piece, version, folder);
        Installation.Result done = installation.tenon("bundles", "update", jar.toString());
        assertEquals(0, done.code(), done::err);
        assertTrue(done.out().contains(" was replaced by " + piece + " " + version), done::out);
    }

    private static long count(String histogram) {
        return histogram
                .lines()
                .filter(line -> line.matches(".*\\s" + SERVER_CLASS.replace(".", "\\.") + "(\\s.*)?"))
                .count();
    }
}
