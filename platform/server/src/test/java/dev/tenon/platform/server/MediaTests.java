package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Pictures and sounds of each wire, with a model that takes them and one that does not.
class MediaTests {
    private static final String PNG =
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEUlEQVR4nGP4z8AARAxg8j8AG/ID/fPnS7EAAAAASUVORK5CYII=";
    private static final String WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQgAAAAAAQABAAEAAQ==";
    private static final String URL = "data:image/png;base64," + PNG;
    private static final String CHAT = "/v1/chat/completions";
    private static final String IMAGE = "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + URL + "\"}}";

    private static final SeeingEngine SEEN = new SeeingEngine();
    private static ServerFixture server;
    private static ServerFixture blind;

    @BeforeAll
    static void start(@TempDir Path folder) throws IOException {
        Files.write(folder.resolve("a.png"), Base64.getDecoder().decode(PNG));
        server = new ServerFixture(
                Map.of("prefer.chat", SeeingEngine.class.getName()),
                SEEN::over,
                builder -> builder.mediaUrls(List.of(), folder));
        blind = new ServerFixture();
    }

    @AfterAll
    static void stop() {
        blind.close();
        server.close();
    }

    private static String chat(String content) {
        return "{\"messages\":[{\"role\":\"user\",\"content\":" + content + "}],\"max_tokens\":2}";
    }

    /// Sends a request and checks the last turn that the model gets.
    private static void check(String path, String body, String role, String text, String... types) throws Exception {
        SEEN.turns = null;
        server.answer(path, body);
        ChatTurn turn = SEEN.turns.getLast();
        assertEquals(role, turn.role());
        assertEquals(text, turn.text().replace(MediaPart.PLACE, '@'));
        assertEquals(
                List.of(types),
                turn.media().stream().map(MediaPart::contentType).toList());
        for (MediaPart part : turn.media()) {
            String file = part.contentType().startsWith("audio/") ? WAV : PNG;
            assertEquals(ByteBuffer.wrap(Base64.getDecoder().decode(file)), part.bytes());
        }
    }

    @Test
    void chatCompletions() throws Exception {
        check(
                CHAT,
                chat("[{\"type\":\"text\",\"text\":\"See\"}," + IMAGE + ",{\"type\":\"text\",\"text\":\"a\"},"
                        + "{\"type\":\"text\",\"text\":\"b\"}]"),
                "user",
                "See@a\nb",
                "image/png");
        check(
                CHAT,
                chat("[{\"type\":\"image_url\",\"image_url\":\"" + URL.replace("data:image", "DATA:Image") + "\"},"
                        + "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"" + WAV + "\",\"format\":\"wav\"}}]"),
                "user",
                "@@",
                "image/png",
                "audio/wav");
        check(
                CHAT,
                chat("[{\"type\":\"image_url\",\"image_url\":{\"detail\":\"low\",\"url\":\"data:;base64," + PNG
                        + "\"}}]"),
                "user",
                "@",
                "");
    }

    @Test
    void placesAreThoseOfParts() throws Exception {
        check(CHAT, chat("[{\"type\":\"text\",\"text\":\"a\uFFFCb\"}," + IMAGE + "]"), "user", "ab@", "image/png");
        check(CHAT, chat("\"a\uFFFCb\""), "user", "a@b");
    }

    @Test
    void responses() throws Exception {
        String image = "{\"type\":\"input_image\",\"image_url\":\"" + URL + "\",\"detail\":\"auto\"}";
        check(
                "/v1/responses",
                "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"See\"}," + image
                        + "]}],\"max_output_tokens\":2}",
                "user",
                "See@",
                "image/png");
        check(
                "/v1/responses",
                "{\"input\":[{\"role\":\"user\",\"content\":\"Look.\"},"
                        + "{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"shot\",\"arguments\":\"{}\"},"
                        + "{\"type\":\"function_call_output\",\"call_id\":\"1\",\"output\":[" + image
                        + ",{\"type\":\"input_text\",\"text\":\"done\"}]}],\"max_output_tokens\":2}",
                "tool",
                "@done",
                "image/png");
    }

    @Test
    void messages() throws Exception {
        String image = "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\""
                + PNG + "\"}}";
        String head = "{\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":";
        check(
                "/v1/messages",
                head + "[" + image + ",{\"type\":\"text\",\"text\":\"What?\"},"
                        + "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"" + URL + "\"}}]}]}",
                "user",
                "@What?@",
                "image/png",
                "image/png");
        check(
                "/v1/messages",
                head + "\"Look.\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"1\","
                        + "\"name\":\"shot\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                        + "\"tool_use_id\":\"1\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}," + image
                        + "]}]}]}",
                "tool",
                "done@",
                "image/png");
    }

    @Test
    void ollama() throws Exception {
        check(
                "/api/chat",
                "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"Which?\",\"images\":[\"" + PNG
                        + "\",\"" + PNG + "\"]}],\"stream\":false,\"options\":{\"num_predict\":2}}",
                "user",
                "@@Which?",
                "",
                "");
        check(
                "/api/generate",
                "{\"model\":\"story\",\"prompt\":\"Which?\",\"images\":[\"" + PNG
                        + "\"],\"stream\":false,\"options\":{\"num_predict\":2}}",
                "user",
                "@Which?",
                "");
    }

    @Test
    void filesAtUrls() throws Exception {
        String image = "{\"type\":\"image_url\",\"image_url\":\"file:a.png\"}";
        check(CHAT, chat("[" + image + "]"), "user", "@", "");
        JsonNode error = server.error(400, CHAT, chat("[" + (image + ",").repeat(16) + image + "]"));
        assertEquals("too_many", error.get("code").asText());
        assertEquals("messages[0].content[16].image_url", error.get("param").asText());
    }

    private static int evaluated(String prompt) throws Exception {
        JsonNode answer = server.answer("/completion", "{\"prompt\":" + prompt + ",\"n_predict\":1,\"temperature\":0}");
        return answer.at("/timings/prompt_n").asInt()
                + answer.at("/timings/cache_n").asInt();
    }

    private static String marked(String text, String... files) {
        return "{\"prompt_string\":\"" + text + "\",\"multimodal_data\":[\"" + String.join("\",\"", files) + "\"]}";
    }

    @Test
    void textsWithFilesAreContinued() throws Exception {
        int words = evaluated("\"Once a fox saw\"");
        assertEquals(words, evaluated(marked("Once a<__media__> saw", PNG)));
        assertEquals(words + 2, evaluated(marked("<__media__>Once a<__media__> saw<__media__>", WAV, PNG, PNG)));
        JsonNode raw = server.answer(
                "/api/generate",
                "{\"model\":\"story\",\"prompt\":\" saw\",\"images\":[\"" + PNG
                        + "\"],\"raw\":true,\"stream\":false,\"options\":{\"num_predict\":1}}");
        assertEquals(evaluated("\" fox saw\""), raw.get("prompt_eval_count").asInt());
        JsonNode several = server.answer(
                "/completion", "{\"prompt\":[\"Once\"," + marked("<__media__>", PNG) + "],\"n_predict\":1}");
        assertEquals(2, several.size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            image_url":{"url":"data:image/png;base64,@@@@"}    | image_url.url        | is no base64
            image_url":{"url":"data:image/png;base64,"}        | image_url.url        | is empty
            image_url":{"url":"data:image/png,abc"}            | image_url.url        | without base64
            image_url":{"url":"https://example.org/a.png"}     | image_url.url        | is no data URL
            image_url":{"url":"file:///etc/passwd"}            | image_url.url        | is no data URL
            image_url":"http://127.0.0.1/"                     | image_url            | is no data URL
            image_url":7                                       | image_url            | expected an object
            image_url":{"detail":"low"}                        | image_url.url        | is missing
            x":1                                               | image_url            | is missing
            """)
    void whatIsNotReadIsToldByItsField(String field, String param, String why) throws Exception {
        String body = chat("[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\",\"" + field + "}]");
        JsonNode error = server.error(400, CHAT, body);
        assertEquals("invalid_request_error", error.get("type").asText());
        assertEquals("messages[0].content[1]." + param, error.get("param").asText());
        assertTrue(error.get("message").asText().contains(why), error::toString);
    }

    @Test
    void otherWiresNameTheFieldToo() throws Exception {
        assertEquals(
                "messages[0].content[0].input_audio.data",
                server.error(
                                400,
                                CHAT,
                                chat(
                                        "[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"?\",\"format\":\"wav\"}}]"))
                        .get("param")
                        .asText());
        assertEquals(
                "input[0].content[0].type",
                server.error(
                                400,
                                "/v1/responses",
                                "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_file\",\"file_data\":\"aGk=\"}]}]}")
                        .get("param")
                        .asText());
        assertTrue(server.error(
                        400,
                        "/v1/messages",
                        "{\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":["
                                + "{\"type\":\"image\",\"source\":{\"type\":\"file\",\"file_id\":\"1\"}}]}]}")
                .get("message")
                .asText()
                .startsWith("messages[0].content[0].source.type"));
        assertTrue(server.error(
                        400,
                        "/v1/messages",
                        "{\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\",\"content\":"
                                + "[{\"type\":\"image\",\"source\":{}}]}]}")
                .get("message")
                .asText()
                .contains("the assistant's"));
        assertTrue(server.error(
                        400,
                        "/api/chat",
                        "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"," + "\"images\":[\""
                                + PNG + "\",\"?\"]}]}")
                .asText()
                .startsWith("messages[0].images[1] is no base64"));
        assertEquals(
                "prompt.multimodal_data",
                server.error(400, "/completion", "{\"prompt\":" + marked("<__media__> and <__media__>", PNG) + "}")
                        .get("param")
                        .asText());
        assertEquals(
                "prompt[1].multimodal_data[0]",
                server.error(400, "/completion", "{\"prompt\":[\"a\"," + marked("<__media__>", "?") + "]}")
                        .get("param")
                        .asText());
        JsonNode unread = server.error(400, "/completion", "{\"prompt\":" + marked("<__media__>", "aGk=") + "}");
        assertEquals("prompt", unread.get("param").asText());
        assertTrue(unread.get("message").asText().contains("MEDIA-001"), unread::toString);
    }

    /// Each wire's own form of the refusal.
    @Test
    void aModelWithoutEncoderSaysHowItGetsOne() throws Exception {
        JsonNode open = blind.error(400, CHAT, chat("[" + IMAGE + "]"));
        assertEquals("invalid_request_error", open.get("type").asText());
        assertEquals("messages", open.get("param").asText());
        refused(open.get("message").asText(), "pictures");
        refused(
                blind.error(
                                400,
                                CHAT,
                                chat("[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"" + WAV
                                        + "\",\"format\":\"wav\"}}]"))
                        .get("message")
                        .asText(),
                "sounds");
        JsonNode anthropic = ServerFixture.json(blind.post(
                        "/v1/messages",
                        "{\"max_tokens\":1,\"messages\":[{\"role\":"
                                + "\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\""
                                + URL
                                + "\"}}]}]}")
                .body());
        assertEquals("error", anthropic.get("type").asText());
        assertEquals("invalid_request_error", anthropic.at("/error/type").asText());
        refused(anthropic.at("/error/message").asText(), "pictures");
        refused(
                blind.error(
                                400,
                                "/api/chat",
                                "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"a\","
                                        + "\"images\":[\"" + PNG + "\"]}]}")
                        .asText(),
                "pictures");
        JsonNode llama = blind.error(400, "/completion", "{\"prompt\":" + marked("<__media__>", PNG) + "}");
        assertEquals("prompt", llama.get("param").asText());
        refused(llama.get("message").asText(), "pictures");
    }

    private static void refused(String message, String what) {
        assertTrue(message.contains("story-qwen3-q4_k_m.gguf takes no " + what), message);
        assertTrue(message.contains("--mmproj"), message);
    }

    @Test
    void modelsTellWhatTheyTake() throws Exception {
        for (boolean sees : List.of(true, false)) {
            ServerFixture one = sees ? server : blind;
            JsonNode expected = ServerFixture.json("{\"vision\":" + sees + ",\"audio\":" + sees + "}");
            assertEquals(expected, ServerFixture.json(one.get("/props").body()).get("modalities"));
            assertEquals(
                    expected, ServerFixture.json(one.get("/v1/models").body()).at("/data/0/modalities"));
            assertEquals(
                    expected,
                    ServerFixture.json(one.get("/tenon/status").body()).at("/models/0/modalities"));
            assertEquals(
                    sees,
                    one.answer("/api/show", "{\"model\":\"story\"}")
                            .get("capabilities")
                            .toString()
                            .contains("vision"));
        }
    }
}
