package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// What the wires make of messages of the assistant at the end, and of calls where there may be one.
class ContinuedTests {
    private static final String USER = "{\"role\":\"user\",\"content\":\"A tale.\"}";

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String messages(String last, String more) {
        return "{\"messages\":[" + USER + "," + last + "]" + more + "}";
    }

    private static String prompt(String last, String more) throws Exception {
        return server.answer("/apply-template", messages(last, more))
                .get("prompt")
                .asText();
    }

    private static String assistant(String content) {
        return "{\"role\":\"assistant\",\"content\":" + content + "}";
    }

    @Test
    void theAssistantsMessageGoesOnUnlessTheRequestSaysOtherwise() throws Exception {
        String last = assistant("\"Once upon a \"");
        assertTrue(prompt(last, "").endsWith("assistant\nOnce upon a "), prompt(last, ""));
        assertEquals(prompt(last, ""), prompt(last, ",\"continue_final_message\":true"));
        for (String more : new String[] {",\"continue_final_message\":false", ",\"add_generation_prompt\":true"}) {
            String answered = prompt(last, more);
            assertTrue(answered.contains("Once upon a ") && !answered.endsWith("Once upon a "), answered);
        }
    }

    @Test
    void partsOfTheAssistantFollowEachOther() throws Exception {
        String parts = "[{\"type\":\"text\",\"text\":\"Wh\"},{\"type\":\"text\",\"text\":\"ill\"}]";
        assertTrue(prompt(assistant(parts), "").endsWith("\nWhill"), prompt(assistant(parts), ""));
        String user = "{\"role\":\"user\",\"content\":" + parts + "}";
        assertTrue(prompt(user, "").contains("Wh\nill"), prompt(user, ""));
    }

    @Test
    void ofTwoMessagesOfTheAssistantItIsUnclearWhatGoesOn() throws Exception {
        String two = assistant("\"Once\"") + "," + assistant("\"upon\"");
        JsonNode error = server.error(400, "/v1/chat/completions", messages(two, ",\"max_tokens\":2"));
        assertEquals("messages", error.get("param").asText());
        assertTrue(prompt(two, ",\"continue_final_message\":true").endsWith("upon"));
    }

    private static int tokens(String last) throws Exception {
        return server.answer("/v1/messages/count_tokens", messages(last, ""))
                .get("input_tokens")
                .asInt();
    }

    @Test
    void turnsOfTheAssistantAreOneInMessages() throws Exception {
        assertEquals(
                tokens(assistant("\"Once upon a time\"")),
                tokens(assistant("\"Once upon\"") + "," + assistant("\" a time\"")));
        assertEquals(
                tokens(assistant("\"Whill\"")),
                tokens(assistant("[{\"type\":\"text\",\"text\":\"Wh\"},{\"type\":\"text\",\"text\":\"ill\"}]")));
        assertNotEquals(tokens(assistant("\"Once upon a time\"")), tokens(assistant("\"Once upon a\"")));
    }

    @Test
    void messagesMakeOneCallWhereThereMayBeNoOther() throws Exception {
        String body = """
                {"messages":[{"role":"user","content":"When?"}],"max_tokens":200,"temperature":1,
                 "tool_choice":{"type":"%s","disable_parallel_tool_use":%s},
                 "tools":[{"name":"now","input_schema":{"type":"object","properties":{},"additionalProperties":false}}]}""";
        JsonNode one = server.answer("/v1/messages", body.formatted("any", true));
        assertEquals(1, one.get("content").size(), one::toString);
        assertEquals("tool_use", one.get("stop_reason").asText());
        // Sampled: now and then there is only one.
        int most = 0;
        for (int i = 0; i < 40 && most < 2; i++) {
            most = server.answer("/v1/messages", body.formatted("any", false))
                    .get("content")
                    .size();
        }
        assertTrue(most > 1, "one call in each of 40 answers");
        assertEquals(
                200, server.post("/v1/messages", body.formatted("auto", true)).statusCode());
    }
}
