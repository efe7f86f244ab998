package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `tenon serve` is killed, cannot write its log, and is told that its settings have changed.
class ServerFaultsIT {
    /// For start, load and end; seconds on an idle machine.
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final String TALE = "{\"prompt\":\"Once\",\"max_tokens\":%d,\"ignore_eos\":true,\"stream\":%b}";

    @TempDir
    Path folder;

    @Test
    void aKilledServerCutsItsStreamsAndStartsAgain() throws Exception {
        Installation installation = Installation.copy(folder);
        StringBuilder text = new StringBuilder();
        try (RunningServer server = new RunningServer(installation, LIMIT);
                Socket socket = stream(server);
                BufferedReader in = reader(socket)) {
            for (String line = in.readLine(); !line.startsWith("data: "); line = in.readLine()) {
                text.append(line).append('\n');
            }
            server.signal("KILL");
            try {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    text.append(line).append('\n');
                }
            } catch (IOException e) {
                text.append(e);
            }
        }
        assertFalse(text.toString().contains("[DONE]"), text::toString);
        try (RunningServer again = new RunningServer(installation, LIMIT)) {
            assertEquals(
                    200,
                    again.send(again.post("/v1/completions", TALE.formatted(3, false)))
                            .statusCode());
            assertEquals("", again.errors());
            Installation.Result bundles = installation.tenon("bundles");
            assertEquals(0, bundles.code(), bundles::err);
            assertEquals(0, again.terminate(), again::errors);
        }
    }

    private static Socket stream(RunningServer server) throws IOException {
        Socket socket = new Socket("127.0.0.1", URI.create(server.address).getPort());
        String body = TALE.formatted(100_000, true);
        OutputStream out = socket.getOutputStream();
        out.write(
                ("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                                + body.length() + "\r\n\r\n" + body)
                        .getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /// The access log goes to standard error, which is on a full disk.
    @Test
    void aLogThatCannotBeWrittenStopsNoRequest() throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/full")), "the disk that is full is /dev/full");
        Installation installation =
                Installation.copy(folder).with("TENON_LOG", "info").with("TENON_SERVE_PORT", "0");
        Process process =
                installation.startIn(folder.resolve("err.txt"), "exec \"$0\" \"$@\" 2>/dev/full", List.of("serve"));
        try (Deadline deadline = new Deadline(process, LIMIT);
                BufferedReader out = process.inputReader();
                HttpClient client = HttpClient.newHttpClient()) {
            String line = out.readLine();
            assertTrue(line != null && line.startsWith("Listening at "), () -> "no start: " + line);
            for (int i = 0; i < 20; i++) {
                HttpResponse<String> answer = client.send(
                        HttpRequest.newBuilder(URI.create(line.substring("Listening at ".length()) + "/v1/completions"))
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(TALE.formatted(3, false)))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertEquals(200, answer.statusCode(), answer::body);
            }
            process.destroy(); // SIGTERM
            assertEquals(0, deadline.await());
        }
    }

    @Test
    void settingsTakeEffectWhenTheFileChangesAndKeysAtSighup() throws Exception {
        Installation installation = Installation.copy(folder);
        Path etc = installation.home().resolve("etc/dev.tenon.platform.server.cfg");
        String before = Files.exists(etc) ? Files.readString(etc) : "";
        try (RunningServer server = new RunningServer(installation, LIMIT)) {
            assertEquals(200, server.get("/v1/models/" + name()).statusCode());
            Files.writeString(etc, before + "\nserve.models = tale=" + Jars.model() + "; two=" + Jars.model() + "\n");
            Osgi.await(
                    "the models are others", () -> server.get("/v1/models/two").statusCode() == 200);
            assertEquals(404, server.get("/v1/models/" + name()).statusCode());

            Files.writeString(etc, before + "\nserve.parallel = many\n");
            Osgi.await("the setting is refused", () -> server.errors().contains("serve.parallel"));
            assertEquals(200, server.get("/v1/models/two").statusCode(), server::errors);

            Path keys = Files.writeString(folder.resolve("keys.txt"), "one\n");
            Files.writeString(etc, before + "\nserve.api-key-file = " + keys + "\n");
            Osgi.await("a key is needed", () -> server.get("/v1/models").statusCode() == 401);
            server.signal("HUP");
            assertEquals(401, server.get("/v1/models").statusCode());
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private static String name() {
        return Jars.model().getFileName().toString().replace(".gguf", "");
    }
}
