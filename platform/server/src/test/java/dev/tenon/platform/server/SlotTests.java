package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What was computed of prompts, kept in files. The limit on time ends a hang.
@Timeout(120)
class SlotTests {
    private static final String PROMPT =
            "Once upon a time there lived an old man and his wife who were both clever and wise. ".repeat(10);
    private static final String ASKED =
            "{\"prompt\":\"" + PROMPT + "\",\"n_predict\":8,\"temperature\":0,\"id_slot\":1}";
    private static final String FILE = "{\"filename\":\"story.bin\"}";

    @TempDir
    Path folder;

    private ServerFixture server() {
        Consumer<ServerBuilder> options = builder -> builder.slotFolder(folder);
        return new ServerFixture(options);
    }

    private static int cached(JsonNode answer) {
        return answer.get("timings").get("cache_n").asInt();
    }

    private static HttpResponse<String> act(ServerFixture server, String slot, String body) throws Exception {
        return server.post("/slots/" + slot, body);
    }

    private static JsonNode done(HttpResponse<String> response) {
        assertEquals(200, response.statusCode(), response::body);
        return ServerFixture.json(response.body());
    }

    private static void refused(int status, String text, HttpResponse<String> response) {
        assertEquals(status, response.statusCode(), response::body);
        assertTrue(response.body().contains(text), response::body);
    }

    @Test
    void aPromptIsNotRunAgainAfterARestart() throws Exception {
        String text;
        int prompt;
        try (ServerFixture server = server()) {
            JsonNode answer = server.answer("/completion", ASKED);
            text = answer.get("content").asText();
            prompt = answer.get("tokens_evaluated").asInt();
            assertEquals(0, cached(answer));
            JsonNode saved = done(act(server, "1?action=save", FILE));
            assertEquals(prompt + 8, saved.get("n_saved").asInt());
            assertEquals(
                    Files.size(folder.resolve("story.bin")),
                    saved.get("n_written").asLong());
            assertEquals(
                    prompt + 8,
                    done(act(server, "1?action=erase", "{}")).get("n_erased").asInt());
            refused(400, "holds nothing", act(server, "1?action=save", FILE));
        }
        try (ServerFixture server = server()) {
            JsonNode restored = done(act(server, "0?action=restore", FILE));
            assertEquals(prompt + 8, restored.get("n_restored").asInt());
            JsonNode answer = server.answer("/completion", ASKED);
            assertEquals(text, answer.get("content").asText());
            assertEquals((prompt - 1) / 64 * 64, cached(answer));
        }
    }

    @Test
    void whatCannotBeDoneIsRefused() throws Exception {
        try (ServerFixture server = server()) {
            refused(404, "no slot 99", act(server, "99?action=save", FILE));
            refused(404, "no slot", act(server, "x?action=save", FILE));
            refused(400, "expected save, restore or erase", act(server, "0?action=drop", FILE));
            refused(400, "holds nothing", act(server, "0?action=save", FILE));
            refused(400, "expected a name", act(server, "0?action=restore", "{\"filename\":\"../x\"}"));
            refused(400, "no file", act(server, "0?action=restore", "{\"filename\":\"none\"}"));
            server.answer("/completion", ASKED);
            done(act(server, "1?action=save", FILE));
            byte[] bytes = Files.readAllBytes(folder.resolve("story.bin"));
            Files.write(folder.resolve("cut"), Arrays.copyOf(bytes, bytes.length / 2));
            refused(400, "is damaged", act(server, "0?action=restore", "{\"filename\":\"cut\"}"));
            bytes[7]++;
            Files.write(folder.resolve("other"), bytes);
            refused(400, "other tokens", act(server, "0?action=restore", "{\"filename\":\"other\"}"));
        }
        try (ServerFixture server = new ServerFixture()) {
            refused(501, "--slot-save-path", act(server, "0?action=save", FILE));
        }
    }
}
