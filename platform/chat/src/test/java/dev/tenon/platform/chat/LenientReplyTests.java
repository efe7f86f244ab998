package dev.tenon.platform.chat;

import static dev.tenon.platform.chat.ReplyParserTests.TOOLS;
import static dev.tenon.platform.chat.ReplyParserTests.assertParts;
import static dev.tenon.platform.chat.ReplyParserTests.parse;
import static dev.tenon.platform.chat.ReplyParserTests.tools;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Wording;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What models get wrong, and what is no call though it looks like one.
class LenientReplyTests {
    @Test
    void aCallThatIsCutOffIsNoWholeCall() {
        for (KnownFormat each : KnownFormat.values()) {
            TemplateFormat format = new TemplateFormat(new ReplyFormat(each.calls(), Reasoning.THINK), true, true);
            ReplyParser parser = ReplyParser.of(format, "", TOOLS, new CollectedReply());
            Wording wording = each.calls().wording();
            String cut = each.calls().shape() instanceof NameThenTags tags
                    ? tags.keyOpen() + "zone" + tags.keyEnd() + tags.valueOpen() + "a"
                    : "{\"zone\": \"";
            parser.text(wording.before()
                    + wording.prefix()
                    + CallSyntax.written(each.calls(), "time")
                    + wording.middle()
                    + cut);
            parser.finish();
            assertEquals(0, parser.calls(), each::name);
        }
    }

    /// Replies of one form and what they become: text is text to the letter where it is no call of an offered tool.
    @Test
    void whatIsNoCallOfAnOfferedToolStaysText() {
        record Row(KnownFormat format, String reply) {}
        for (Row row : List.of(
                new Row(KnownFormat.TAGGED, "Use the <tool_call> tag to call."),
                new Row(KnownFormat.TAGGED, "  <tool_call>\n"),
                new Row(
                        KnownFormat.TAGGED,
                        "Hi <tool_call>\n{\"name\": \"Ada\", \"arguments\": {\"x\": 1}}\n</tool_call> \n"),
                new Row(KnownFormat.TAGGED, "<tool_call>{\"name\": \"time\", \"arguments\": [1]}</tool_call>"),
                new Row(KnownFormat.TAGGED, "<tool_call>{\"name\": \"time\", \"arguments\": \"soon\"}</tool_call>"),
                new Row(KnownFormat.TAGGED, "<tool_call>{\"arguments\": {}}</tool_call>"),
                new Row(KnownFormat.TAGGED, "<tool_call>{\"name\": \"time\" \"arguments\": {}}</tool_call>"),
                new Row(KnownFormat.BARE, "{\"name\": \"Ada\", \"age\": 36}"),
                new Row(KnownFormat.BARE, "{\"name\": \"Ada\", \"parameters\": {}}"),
                new Row(KnownFormat.BARE, " {\"name\": \"now\"} "),
                new Row(KnownFormat.BARE, "{\"name\": \"now\", \"parameters\": {}, \"description\": \"d\"}"),
                new Row(KnownFormat.BARE, "[{\"name\": \"Ada\", \"parameters\": {}}]"),
                new Row(KnownFormat.BARE, ", \n[1] [2]"),
                new Row(KnownFormat.PYTHONIC, "[Ada(age=36)]"),
                new Row(KnownFormat.PYTHONIC, "[time(\"UTC\")]"),
                new Row(KnownFormat.PYTHONIC, "[time(zone=1]"),
                new Row(KnownFormat.LISTED, "[TOOL_CALLS][{\"name\": \"Ada\", \"arguments\": {}}]"),
                new Row(KnownFormat.NAMED, "a [TOOL_CALLS] is what [ARGS]{} follow"),
                new Row(KnownFormat.NAMED, "[TOOL_CALLS]Ada[ARGS]{\"x\": 1}"),
                new Row(KnownFormat.NAMED, "[TOOL_CALLS]time[ARGS]soon"),
                new Row(KnownFormat.LFM, "<|tool_call_start|>[Ada(x=1)]<|tool_call_end|>"),
                new Row(KnownFormat.GEMMA, "<|tool_call>call:Ada{x:1}<tool_call|>"),
                new Row(
                        KnownFormat.KIMI,
                        "<|tool_calls_section_begin|><|tool_call_begin|>Ada:0<|tool_call_argument_begin|>{}"),
                new Row(KnownFormat.FUNCTION, "<tool_call>\n<function=Ada>\n</function>\n</tool_call>"),
                new Row(KnownFormat.FUNCTION, "Write <function=time> and </function>, or <function=NAME>."),
                new Row(KnownFormat.ARGUMENT, "<tool_call>Ada\n</tool_call>"),
                new Row(
                        KnownFormat.INVOKE,
                        "<minimax:tool_call>\n<invoke name=\"Ada\">\n</invoke>\n</minimax:tool_call>"))) {
            assertParts(row.format(), "", row.reply(), "content:" + row.reply());
        }
    }

    @Test
    void textAroundCallsIsKept() {
        String call = "<tool_call>{\"name\": \"now\"}</tool_call>";
        String[] parts = {"content:Hi", "call 0 now", "arguments 0:{}", "content:\n\n\nDone."};
        assertParts(KnownFormat.TAGGED, "", "Hi\n" + call + "\n\nDone.", parts);
        assertParts(KnownFormat.TAGGED, "", "Hi\n" + call + "\n\nDone. \n", append(parts, " \n"));
        assertParts(
                KnownFormat.TAGGED,
                "",
                "\n" + call + "\n" + call + "\n",
                "call 0 now",
                "arguments 0:{}",
                "call 1 now",
                "arguments 1:{}");
        assertParts(KnownFormat.TAGGED, "", call + "\nDone <b", "call 0 now", "arguments 0:{}", "content:Done <b");
        assertParts(
                KnownFormat.TAGGED,
                "",
                "Hi " + call + ", or [1]; use <tool_call>.",
                "content:Hi",
                "call 0 now",
                "arguments 0:{}",
                "content: , or [1]; use <tool_call>.");
        String bad = "{\"name\": \"Ada\"}";
        assertParts(
                KnownFormat.TAGGED,
                "",
                call + "<tool_call>" + bad + "</tool_call>" + call,
                "call 0 now",
                "arguments 0:{}",
                "content:<tool_call>" + bad + "</tool_call>",
                "call 1 now",
                "arguments 1:{}");
        assertParts(
                KnownFormat.LISTED,
                "",
                "[TOOL_CALLS][{\"name\": \"now\"}, " + bad + "]",
                "call 0 now",
                "arguments 0:{}",
                "content:, " + bad + "]");
        assertParts(
                KnownFormat.NEMOTRON,
                "",
                "<TOOLCALL>[{\"name\": \"now\"}]</TOOLCALL> [1]",
                "call 0 now",
                "arguments 0:{}",
                "content:[1]");
    }

    private static String[] append(String[] parts, String more) {
        String[] all = parts.clone();
        all[all.length - 1] += more;
        return all;
    }

    /// What models write for arguments, and what it means.
    @Test
    void argumentsAreReadAsModelsWriteThem() {
        String[][] rows = {
            {"{\"zone\": \"a\n\tb\u0001\"}", "{\"zone\": \"a\\n\\tb\\u0001\"}"},
            {"{'zone': 'a\"b', \"day\": +1.}", "{\"zone\": \"a\\\"b\", \"day\": 1}"},
            {"{\"zone\": None, \"on\": [True, FALSE, null,],}", "{\"zone\": null, \"on\": [true, false, null]}"},
            {"{zone: \"\\d \\' \\x41 \\ud83d\\ude00 \\ud83d\"}", "{\"zone\": \"\\\\d ' A \ud83d\ude00 \ufffd\"}"},
            {"\"{\\\"zone\\\": \\\"a\\nb\\\"}\"", "{\"zone\": \"a\\nb\"}"},
            {"null", "{}"},
            {"\"{}\"", "{}"},
            {"{\"a\": {\"b\": [{}, []]}}", "{\"a\": {\"b\": [{}, []]}}"},
        };
        for (String[] row : rows) {
            String object = "{\"name\": \"now\", \"arguments\": " + row[0] + "}";
            String[] expected = {"call 0 now", "arguments 0:" + row[1]};
            assertParts(KnownFormat.TAGGED, "", "<tool_call>\n" + object + "\n</tool_call>", expected);
            assertParts(KnownFormat.LISTED, "", "[TOOL_CALLS][" + object + "]", expected);
            assertParts(KnownFormat.NAMED, "", "[TOOL_CALLS]now[ARGS]" + row[0], expected);
            assertParts(
                    KnownFormat.CHANNELS,
                    "",
                    "<|channel|>commentary to=now<|message|>" + row[0] + "<|call|>",
                    expected);
            String bare = object.replace("arguments", "parameters");
            assertParts(KnownFormat.BARE, "", bare, expected);
        }
        String[] none = {"call 0 now", "arguments 0:{}"};
        assertParts(KnownFormat.TAGGED, "", "<tool_call>{\"name\": \"functions.now\"}</tool_call>", none);
        assertParts(
                KnownFormat.TAGGED,
                "",
                "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"now\", \"arguments\": {}}}</tool_call>",
                none);
        assertParts(KnownFormat.NAMED, "", "[TOOL_CALLS]now[ARGS]", none);
        assertParts(KnownFormat.CHANNELS, "", "<|channel|>commentary to=now<|message|><|call|>", none);
        assertParts(
                KnownFormat.PYTHONIC,
                "",
                "[now(code=\"\"\"a \"b\"\n\"\"\")]",
                "call 0 now",
                "arguments 0:{\"code\": \"a \\\"b\\\"\\n\"}");
    }

    @Test
    void aCallThatCannotBeReadToItsEndIsText() {
        String cut = "<tool_call>{\"name\": \"now\", \"arguments\": {\"x\": \"a";
        assertParts(
                KnownFormat.TAGGED,
                "",
                "Hi " + cut,
                "content:Hi",
                "call 0 now",
                "arguments 0:{\"x\": \"a",
                "uncalled 0",
                "content: " + cut);
        String wrong = "<tool_call>{\"name\": \"now\", \"arguments\": {\"x\": \"a\"b\"}}</tool_call>";
        assertParts(
                KnownFormat.TAGGED,
                "",
                wrong + "<tool_call>{\"name\": \"now\"}</tool_call>",
                "call 0 now",
                "arguments 0:{\"x\": \"a\"",
                "uncalled 0",
                "content:" + wrong,
                "call 1 now",
                "arguments 1:{}");
        String late = "<tool_call>{\"arguments\": {\"x\": 1}, \"name\": \"Ada\"}</tool_call>";
        assertParts(KnownFormat.TAGGED, "", late, "content:" + late);
    }

    @Test
    void aCallInThoughtsThatNothingClosesIsOne() {
        String call = "<tool_call>{\"name\": \"now\"}</tool_call>";
        assertParts(
                KnownFormat.TAGGED,
                "<think>",
                "Look <tool_call>.\n" + call + "\nDone.",
                "reasoning:Look <tool_call>.\n",
                "call 0 now",
                "arguments 0:{}",
                "content:Done.");
        String closed = "I could " + call + " \n";
        assertParts(KnownFormat.TAGGED, "", "<think>" + closed + "</think>\nNo.", "reasoning:" + closed, "content:No.");
        for (String none : List.of("<tool_call>{\"name\": \"Ada\"}</tool_call>", "<tool_call>{\"name\": \"now\"")) {
            assertParts(KnownFormat.TAGGED, "<think>", none, "reasoning:" + none);
        }
        assertEquals(List.of("reasoning:" + call), parse(KnownFormat.TAGGED, "<think>", false, call, 3));
    }

    @Test
    void controlTokensThatAreNoMarksKeepTextsApart() {
        CollectedReply reply = new CollectedReply();
        ReplyParser parser = ReplyParser.of(
                TemplateFormat.of("{{ tools }} [TOOL_CALLS] [ARGS]", Optional.empty()), "", TOOLS, reply);
        for (String piece : List.of(
                "@<a>",
                "Hi",
                "@<b>",
                "you",
                "@<c>",
                " all",
                "@[TOOL_CALLS]",
                "now",
                "@[CALL_ID]",
                "abcdefghi",
                "@[ARGS]",
                "{}",
                "@[TOOL_CALLS]",
                "no",
                "@<d>",
                "w",
                "@[ARGS]",
                "{}")) {
            if (piece.startsWith("@")) {
                parser.marker(piece.substring(1));
            } else {
                parser.text(piece);
            }
        }
        parser.finish();
        assertEquals("Hi you all[TOOL_CALLS]no<d>w[ARGS]{}", reply.content());
        assertEquals(1, reply.calls().size());
        assertEquals(
                "now abcdefghi {}",
                reply.calls().getFirst().name() + " " + reply.calls().getFirst().id() + " "
                        + reply.calls().getFirst().input());
    }

    /// Values in tags have no types; the tool's schema has.
    @Test
    void valuesInTagsHaveTheTypesOfTheSchema() {
        String defs = "\"$defs\":{\"S\":{\"type\":\"string\"},\"P\":{\"type\":\"object\"}}";
        String[][] rows = {
            {"{\"type\":\"string\"}", "12345", "\"12345\""},
            {"{\"type\":\"string\"}", " {\"a\": 1}\n", "\" {\\\"a\\\": 1}\\n\""},
            {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "12345", "\"12345\""},
            {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "None", "null"},
            {"{\"type\":[\"string\",\"null\"]}", "null", "null"},
            {"{\"type\":\"string\",\"nullable\":true}", "true", "\"true\""},
            {"{\"$ref\":\"#/$defs/S\"}", "1", "\"1\""},
            {"{\"allOf\":[{\"$ref\":\"#/$defs/S\"},{\"minLength\":1}]}", "1", "\"1\""},
            {"{\"oneOf\":[{\"$ref\":\"#/$defs/S\"},{\"$ref\":\"#/$defs/P\"}]}", "{'a': True}", "{\"a\": true}"},
            {"{\"const\":\"7\"}", "7", "\"7\""},
            {"{\"enum\":[\"1\",\"2\"]}", "1", "\"1\""},
            {"{\"enum\":[1,2]}", "1", "1"},
            {"{\"type\":\"boolean\"}", "True", "true"},
            {"{\"type\":\"boolean\"}", "FALSE", "false"},
            {"{\"type\":\"boolean\"}", "maybe", "\"maybe\""},
            {"{\"type\":\"integer\"}", " 3 ", "3"},
            {"{\"type\":\"integer\"}", "\"3\"", "3"},
            {"{\"type\":[\"integer\",\"string\"]}", "3", "3"},
            {"{\"type\":\"number\"}", ".5", "0.5"},
            {"{\"type\":\"array\"}", "['a', 'b',]", "[\"a\", \"b\"]"},
            {"{\"type\":\"array\"}", "(1, None)", "[1, null]"},
            {"{\"type\":\"object\"}", "\"{\\\"a\\\": 1}\"", "{\"a\": 1}"},
            {"{\"type\":\"object\"}", "{\"a\": \"x\ny\"}", "{\"a\": \"x\\ny\"}"},
            {"{\"$ref\":\"#/$defs/none\"}", "1", "1"},
            {"{\"$ref\":\"#\"}", "{\"a\": 1}", "{\"a\": 1}"},
            {"true", "1", "1"},
            {"{}", "soon", "\"soon\""},
        };
        for (String[] row : rows) {
            List<Map<String, Object>> tools = tools("{\"name\":\"s\",\"parameters\":{\"type\":\"object\"," + defs
                    + ",\"properties\":{\"p\":" + row[0] + "}}}");
            for (KnownFormat format :
                    List.of(KnownFormat.FUNCTION, KnownFormat.SEED, KnownFormat.ARGUMENT, KnownFormat.INVOKE)) {
                NameThenTags tags = (NameThenTags) format.calls().shape();
                Wording wording = format.calls().wording();
                String line = tags.wrapped() ? "\n" : "";
                String reply = wording.before() + wording.prefix() + "s" + wording.middle() + tags.keyOpen() + "p"
                        + tags.keyEnd() + tags.valueOpen() + line + row[1] + line + tags.valueEnd() + wording.suffix()
                        + wording.after();
                for (int piece : new int[] {1, 2, 7, reply.length()}) {
                    assertEquals(
                            List.of("call 0 s", "arguments 0:{\"p\": " + row[2] + "}"),
                            parse(format.calls(), "", tools, reply, piece),
                            () -> format + " " + List.of(row));
                }
            }
        }
    }
}
