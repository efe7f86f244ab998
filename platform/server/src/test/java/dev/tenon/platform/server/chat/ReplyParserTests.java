package dev.tenon.platform.server.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.server.chat.ReplyFormat.Calls;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplyParserTests {
    /// What a reply becomes: parts of one kind are joined.
    private static List<String> parse(Calls calls, String prompt, boolean tools, String reply, int piece) {
        List<String> parts = new ArrayList<>();
        ReplySink sink = new ReplySink() {
            private void add(String kind, String text) {
                if (!parts.isEmpty() && parts.getLast().startsWith(kind + ":")) {
                    parts.add(parts.removeLast() + text);
                } else {
                    parts.add(kind + ":" + text);
                }
            }

            @Override
            public void reasoning(String text) {
                add("reasoning", text);
            }

            @Override
            public void content(String text) {
                add("content", text);
            }

            @Override
            public void call(int index, String id, String name) {
                parts.add("call " + index + " " + name);
            }

            @Override
            public void arguments(int index, String json) {
                add("arguments " + index, json);
            }
        };
        ReplyParser parser = new ReplyParser(new ReplyFormat(calls, true), prompt, tools, false, sink);
        for (int i = 0; i < reply.length(); i += piece) {
            parser.text(reply.substring(i, Math.min(reply.length(), i + piece)));
        }
        parser.finish();
        return parts;
    }

    /// In whatever pieces the text comes.
    private static void assertParts(Calls calls, String prompt, String reply, String... expected) {
        for (int piece = 1; piece <= reply.length() + 1; piece++) {
            assertEquals(List.of(expected), parse(calls, prompt, true, reply, piece), "pieces of " + piece);
        }
    }

    @Test
    void reasoningIsSplitFromTheAnswer() {
        assertParts(Calls.TAGGED, "", "<think>\nHm.</think>\n\nYes.", "reasoning:\nHm.", "content:Yes.");
        assertParts(Calls.TAGGED, "<assistant><think>\n", "Hm.</think>Yes.", "reasoning:Hm.", "content:Yes.");
        assertParts(Calls.TAGGED, "<think>\n\n</think>\n\n", "Yes.", "content:Yes.");
        assertParts(Calls.TAGGED, "", "a <b> </think", "content:a <b> </think");
    }

    @Test
    void taggedCallsAreRead() {
        assertParts(
                Calls.TAGGED,
                "",
                "Let me see.\n<tool_call>\n{\"name\": \"time\", \"arguments\": {\"zone\": \"a}\\\"b\"}}\n</tool_call>\n"
                        + "<tool_call>\n{\"arguments\": {}, \"name\": \"now\"}\n</tool_call>",
                "content:Let me see.",
                "call 0 time",
                "arguments 0:{\"zone\": \"a}\\\"b\"}",
                "call 1 now",
                "arguments 1:{}");
    }

    @Test
    void bareCallsAreRead() {
        assertParts(
                Calls.BARE,
                "",
                "<|python_tag|>{\"name\": \"time\", \"parameters\": {\"zone\": [1, 2]}}; {\"name\": \"now\"}",
                "call 0 time",
                "arguments 0:{\"zone\": [1, 2]}",
                "call 1 now",
                "arguments 1:{}");
        assertParts(Calls.BARE, "", "It is {\"name\": 1}.", "content:It is {\"name\": 1}.");
    }

    @Test
    void listedCallsAreRead() {
        assertParts(
                Calls.LISTED,
                "",
                "[TOOL_CALLS][{\"name\": \"a\", \"arguments\": {\"x\": 1}}, {\"name\": \"b\", \"arguments\": {}}]",
                "call 0 a",
                "arguments 0:{\"x\": 1}",
                "call 1 b",
                "arguments 1:{}");
        assertParts(
                Calls.LISTED,
                "",
                "Hm.[TOOL_CALLS]a[ARGS]{\"x\": {\"y\": 1}}[TOOL_CALLS]b[ARGS]{}",
                "content:Hm.",
                "call 0 a",
                "arguments 0:{\"x\": {\"y\": 1}}",
                "call 1 b",
                "arguments 1:{}");
    }

    @Test
    void jsonThatIsNoCallIsContent() {
        assertParts(Calls.BARE, "", "{\"x\": 1}", "content:{\"x\": 1}");
    }

    @Test
    void withoutToolsMarksAreText() {
        String text = "<tool_call>{\"name\": \"a\"}</tool_call>";
        assertEquals(List.of("content:" + text), parse(Calls.TAGGED, "", false, text, 5));
    }

    @Test
    void theTemplateTellsTheFormat() {
        assertEquals(Calls.LISTED, ReplyFormat.of("{{ tools }} [TOOL_CALLS]").calls());
        assertEquals(Calls.TAGGED, ReplyFormat.of("{{ tools }} <tool_call>").calls());
        assertEquals(
                Calls.BARE,
                ReplyFormat.of("{{ tools }} {\"name\": x, \"parameters\": y}").calls());
        assertEquals(new ReplyFormat(Calls.TAGGED, false), ReplyFormat.of("{{ messages }}"));
    }
}
