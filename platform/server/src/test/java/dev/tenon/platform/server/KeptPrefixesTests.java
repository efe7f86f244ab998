package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Prompts are not run again after their model was unloaded, or the server was restarted. The limit on time ends a
/// hang.
@Timeout(120)
class KeptPrefixesTests {
    private static final String PROMPT =
            "Once upon a time there lived an old man and his wife who were both clever and wise. ".repeat(10);
    private static final String ASKED = "{\"prompt\":\"" + PROMPT + "\",\"n_predict\":8,\"temperature\":0}";

    @TempDir
    Path folder;

    private ServerFixture server(String mebibytes) {
        return new ServerFixture(
                Map.of("prefix.folder", folder.toString(), "prefix.keep.mb", mebibytes), builder -> {});
    }

    private static int cached(JsonNode answer) {
        return answer.get("timings").get("cache_n").asInt();
    }

    @Test
    void aPromptGoesOnAfterItsModelWasUnloaded() throws Exception {
        String text;
        int prompt;
        try (ServerFixture server = server("64")) {
            JsonNode answer = server.answer("/completion", ASKED);
            text = answer.get("content").asText();
            prompt = answer.get("tokens_evaluated").asInt();
            assertEquals(0, cached(answer));
            assertFalse(server.answer("/models/unload", "{\"model\":\"story\"}")
                    .get("loaded")
                    .asBoolean());
            JsonNode again = server.answer("/completion", ASKED);
            assertEquals(text, again.get("content").asText());
            assertEquals((prompt - 1) / 64 * 64, cached(again));
        }
        try (ServerFixture server = server("64")) {
            JsonNode again = server.answer("/completion", ASKED);
            assertEquals(text, again.get("content").asText());
            assertEquals((prompt - 1) / 64 * 64, cached(again));
        }
        try (ServerFixture server = server("0")) {
            assertEquals(0, cached(server.answer("/completion", ASKED)));
        }
    }
}
