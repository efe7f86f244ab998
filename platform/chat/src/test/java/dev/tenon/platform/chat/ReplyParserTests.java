package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ReplyParserTests {
    static final List<Map<String, Object>> TOOLS =
            tools("""
            {"name":"time","parameters":{"type":"object","properties":{
              "zone":{"type":"string"},"day":{"type":"integer"}}}}""", "{\"name\":\"now\"}", "{\"name\":\"a\"}", "{\"name\":\"b\"}");

    /// {@return tools of functions in JSON}
    static List<Map<String, Object>> tools(String... functions) {
        return Stream.of(functions)
                .map(each -> Map.of("type", "function", "function", Json.plain(Json.parse(each))))
                .toList();
    }

    /// What a reply becomes: parts of one kind are joined.
    static List<String> parse(KnownFormat calls, String prompt, boolean tools, String reply, int piece) {
        return parse(calls.calls(), prompt, tools ? TOOLS : List.of(), reply, piece);
    }

    static List<String> parse(
            CallFormat calls, String prompt, List<Map<String, Object>> tools, String reply, int piece) {
        TemplateFormat format = new TemplateFormat(new ReplyFormat(calls, Reasoning.THINK), true, true);
        return parse(format, prompt, tools, reply, piece);
    }

    private static List<String> parse(
            TemplateFormat format, String prompt, List<Map<String, Object>> tools, String reply, int piece) {
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

            @Override
            public void uncalled(int index) {
                parts.add("uncalled " + index);
            }
        };
        ReplyParser parser = ReplyParser.of(format, prompt, tools, sink);
        for (int i = 0; i < reply.length(); i += piece) {
            parser.text(reply.substring(i, Math.min(reply.length(), i + piece)));
        }
        parser.finish();
        return parts;
    }

    /// In whatever pieces the text comes.
    static void assertParts(KnownFormat calls, String prompt, String reply, String... expected) {
        for (int piece = 1; piece <= reply.length() + 1; piece++) {
            assertEquals(List.of(expected), parse(calls, prompt, true, reply, piece), "pieces of " + piece);
        }
    }

    @Test
    void reasoningIsSplitFromTheAnswer() {
        assertParts(KnownFormat.TAGGED, "", "<think>\nHm.</think>\n\nYes.", "reasoning:\nHm.", "content:Yes.");
        assertParts(KnownFormat.TAGGED, "<assistant><think>\n", "Hm.</think>Yes.", "reasoning:Hm.", "content:Yes.");
        assertParts(KnownFormat.TAGGED, "<think>\n\n</think>\n\n", "Yes.", "content:Yes.");
        assertParts(KnownFormat.TAGGED, "", "a <b> </think", "content:a <b> </think");
    }

    @Test
    void marksAroundTheAnswerAreLeftOut() {
        for (String mark : List.of("response", "answer")) {
            String template = "{{ tools }}{{ tool_calls }}<think></think><tool_call><" + mark + "></" + mark + ">";
            TemplateFormat format = TemplateFormat.of(template, Optional.empty());
            String thoughts = "<think>\nHm.\n</think>\n\n\n";
            String answer = "<" + mark + ">\nYes: <b>.\n\n  No.\n</" + mark + ">\n";
            String call = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n";
            List<String> read = List.of("reasoning:\nHm.\n", "content:Yes: <b>.\n\n  No.");
            assertEquals(read, parse(format, thoughts + answer));
            assertEquals(
                    List.of(read.get(0), read.get(1), "call 0 now", "arguments 0:{}"),
                    parse(format, thoughts + answer + call));
            assertEquals(List.of("content:Yes: <b>.\n\n  No."), parse(format, answer));
            assertEquals(List.of("call 0 now", "arguments 0:{}"), parse(format, call));
            String text = "It is <" + mark + ">, then </" + mark + ">.";
            assertEquals(List.of("content:" + text), parse(format, text));
            assertEquals(List.of("content:a </" + mark), parse(format, "<" + mark + ">a </" + mark));
        }
    }

    /// {@return the parts of a reply, which are the same however it is cut}
    private static List<String> parse(TemplateFormat format, String reply) {
        List<String> whole = parse(format, "", TOOLS, reply, reply.length());
        for (int piece : new int[] {1, 2, 3, 7}) {
            assertEquals(whole, parse(format, "", TOOLS, reply, piece), "pieces of " + piece);
        }
        return whole;
    }

    @Test
    void taggedCallsAreRead() {
        assertParts(
                KnownFormat.TAGGED,
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
                KnownFormat.BARE,
                "",
                "<|python_tag|>{\"name\": \"time\", \"parameters\": {\"zone\": [1, 2]}}; {\"name\": \"now\"}",
                "call 0 time",
                "arguments 0:{\"zone\": [1, 2]}",
                "call 1 now",
                "arguments 1:{}");
        assertParts(KnownFormat.BARE, "", "It is {\"name\": 1}.", "content:It is {\"name\": 1}.");
    }

    @Test
    void listedCallsAreRead() {
        assertParts(
                KnownFormat.LISTED,
                "",
                "[TOOL_CALLS][{\"name\": \"a\", \"arguments\": {\"x\": 1}}, {\"name\": \"b\", \"arguments\": {}}]",
                "call 0 a",
                "arguments 0:{\"x\": 1}",
                "call 1 b",
                "arguments 1:{}");
        assertParts(
                KnownFormat.NAMED,
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
        assertParts(KnownFormat.BARE, "", "{\"x\": 1}", "content:{\"x\": 1}");
    }

    @Test
    void withoutToolsMarksAreText() {
        String text = "<tool_call>{\"name\": \"a\"}</tool_call>";
        assertEquals(List.of("content:" + text), parse(KnownFormat.TAGGED, "", false, text, 5));
    }

    @Test
    void namesBeforeFencedJsonAreRead() {
        assertParts(
                KnownFormat.DEEPSEEK_FENCED,
                "<think>\n",
                "Hm.</think>\n\nLet me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n"
                        + "{\"x\": \"`\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>b\n```json\n{}\n```"
                        + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "reasoning:Hm.",
                "content:Let me see.",
                "call 0 a",
                "arguments 0:{\"x\": \"`\"}",
                "call 1 b",
                "arguments 1:{}");
        assertParts(
                KnownFormat.DEEPSEEK,
                "</think>",
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{\"x\": 1}<｜tool▁call▁end｜>"
                        + "<｜tool▁call▁begin｜>b<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "call 0 a",
                "arguments 0:{\"x\": 1}",
                "call 1 b",
                "arguments 1:{}");
    }

    @Test
    void listsInOtherMarksAreRead() {
        String list = "[{\"name\": \"a\", \"arguments\": {\"x\": 1}}, {\"name\": \"b\", \"arguments\": {}}]";
        String[] expected = {"content:Hm.", "call 0 a", "arguments 0:{\"x\": 1}", "call 1 b", "arguments 1:{}"};
        assertParts(KnownFormat.LFM, "", "Hm.\n<|tool_call_start|>" + list + "<|tool_call_end|>", expected);
        assertParts(KnownFormat.NEMOTRON, "", "Hm. <TOOLCALL>" + list + "</TOOLCALL>", expected);
        assertParts(KnownFormat.GRANITE, "", "Hm.<|tool_call|>" + list, expected);
        assertParts(
                KnownFormat.COMMAND,
                "",
                "<|START_ACTION|>[\n {\"tool_call_id\": \"0\", \"tool_name\": \"a\", \"parameters\": {\"x\": 1}}\n]"
                        + "<|END_ACTION|>",
                "call 0 a",
                "arguments 0:{\"x\": 1}");
    }

    @Test
    void tagsOfParametersBecomeJson() {
        assertParts(
                KnownFormat.FUNCTION,
                "",
                "Hm.\n\n<tool_call>\n<function=time>\n<parameter=zone>\nU\"T\nC <b>\n\n</parameter>\n<parameter=day>\n3\n"
                        + "</parameter>\n<parameter=more>\n{\"a\": \"</parameter>\"}\n</parameter>\n</function>\n</tool_call>\n"
                        + "<tool_call>\n<function=now>\n</function>\n</tool_call>",
                "content:Hm.",
                "call 0 time",
                "arguments 0:{\"zone\": \"U\\\"T\\nC <b>\\n\", \"day\": 3, \"more\": {\"a\": \"</parameter>\"}}",
                "call 1 now",
                "arguments 1:{}");
        String[] expected = {
            "call 0 time", "arguments 0:{\"zone\": \"3\", \"day\": \"soon\"}", "call 1 now", "arguments 1:{}"
        };
        assertParts(
                KnownFormat.ARGUMENT,
                "",
                "\n<tool_call>time\n<arg_key>zone</arg_key>\n<arg_value>3</arg_value>\n<arg_key>day</arg_key>\n"
                        + "<arg_value>soon</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>",
                expected);
        assertParts(
                KnownFormat.ARGUMENT,
                "",
                "<tool_call>time<arg_key>zone</arg_key><arg_value>3</arg_value><arg_key>day</arg_key>"
                        + "<arg_value>soon</arg_value></tool_call><tool_call>now</tool_call>",
                expected);
        assertParts(
                KnownFormat.SEED,
                "",
                "<seed:tool_call>\n<function=time>\n<parameter=zone>3"
                        + "</parameter>\n<parameter=day>soon</parameter>\n</function>\n</seed:tool_call>\n<seed:tool_call>\n"
                        + "<function=now>\n</function>\n</seed:tool_call>",
                expected);
        assertParts(
                KnownFormat.INVOKE,
                "<think>\n",
                "Hm.\n</think>\n\n<minimax:tool_call>\n<invoke name=\"time\">\n<parameter name=\"zone\">3</parameter>\n"
                        + "<parameter name=\"day\">soon</parameter>\n</invoke>\n<invoke name=\"now\">\n</invoke>\n"
                        + "</minimax:tool_call>",
                "reasoning:Hm.\n",
                "call 0 time",
                "arguments 0:{\"zone\": \"3\", \"day\": \"soon\"}",
                "call 1 now",
                "arguments 1:{}");
    }

    @Test
    void tagsTellStringsFromOtherValues() {
        String call = "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"time\">\n"
                + "<｜DSML｜parameter name=\"zone\" string=\"true\">3</｜DSML｜parameter>\n"
                + "<｜DSML｜parameter name=\"other\" string=\"true\">3</｜DSML｜parameter>\n"
                + "<｜DSML｜parameter name=\"another\" string=\"false\">[3, \"</｜DSML｜parameter>\"]</｜DSML｜parameter>\n"
                + "<｜DSML｜parameter name=\"day\" string=\"true\">4</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
                + "<｜DSML｜invoke name=\"now\">\n\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>";
        String[] expected = {
            "reasoning:Hm.",
            "content:Well.",
            "call 0 time",
            "arguments 0:{\"zone\": \"3\", \"other\": \"3\", \"another\": [3, \"</｜DSML｜parameter>\"], \"day\": 4}",
            "call 1 now",
            "arguments 1:{}"
        };
        assertParts(KnownFormat.DSML_CALLS, "<think>", "Hm.</think>Well.\n\n" + call, expected);
        String earlier = call.replace("tool_calls", "function_calls");
        assertParts(KnownFormat.DSML, "<think>", "Hm.</think>Well.\n\n" + earlier, expected);
    }

    @Test
    void fencedListsAreRead() {
        assertParts(
                KnownFormat.ACTION,
                "",
                "Plan: ask.\nAction: ```json\n[\n    {\n        \"tool_name\": \"time\",\n        \"parameters\": {\n"
                        + "            \"zone\": \"UTC\"\n        }\n    },\n    {\n        \"tool_name\": \"now\",\n"
                        + "        \"parameters\": {}\n    }\n]```",
                "content:Plan: ask.",
                "call 0 time",
                "arguments 0:{\"zone\": \"UTC\"}",
                "call 1 now",
                "arguments 1:{}");
        String text = "Action: think.\n```json\n[1]\n```";
        assertParts(KnownFormat.ACTION, "", text, "content:" + text);
        assertParts(
                KnownFormat.HUNYUAN,
                "",
                "<think>Hm.</think><tool_calls>[{\"name\": \"now\", \"arguments\": {}}]</tool_calls>",
                "reasoning:Hm.",
                "call 0 now",
                "arguments 0:{}");
    }

    @Test
    void callsOfPythonBecomeJson() {
        String list =
                "[time(zone='a\"b\\'\\n(', day=-3, more={'x': [True, None, 1.5e3], 2: (\"\\x41\\u00e9\\d\",)}), now()]";
        String[] expected = {
            "call 0 time",
            "arguments 0:{\"zone\": \"a\\\"b'\\n(\", \"day\": -3, \"more\": {\"x\": [true, null, 1.5e3], \"2\":"
                    + " [\"A\u00e9\\\\d\"]}}",
            "call 1 now",
            "arguments 1:{}"
        };
        List<String> after = new ArrayList<>(List.of("content:Hm."));
        after.addAll(List.of(expected));
        after.add("content:\nIt is.");
        assertParts(
                KnownFormat.LFM,
                "",
                "Hm.\n<|tool_call_start|>" + list + "<|tool_call_end|>It is.",
                after.toArray(String[]::new));
        assertParts(KnownFormat.PYTHONIC, "", list, expected);
        assertParts(KnownFormat.PYTHONIC, "<think>", "Hm</think>" + list, prepend("reasoning:Hm", expected));
        assertParts(KnownFormat.PYTHONIC, "", "<|python_start|>" + list + "<|python_end|>", expected);
        for (String text : List.of("[1, 2]", "[a link](b)", "[time](zone=1)", "[time(a)](b)", "[time(")) {
            assertParts(KnownFormat.PYTHONIC, "", text, "content:" + text);
        }
    }

    static String[] prepend(String first, String... others) {
        List<String> all = new ArrayList<>(List.of(others));
        all.addFirst(first);
        return all.toArray(String[]::new);
    }

    @Test
    void callsOfGemmaBecomeJson() {
        assertParts(
                KnownFormat.GEMMA,
                "",
                "Hm.<|tool_call>call:time{zone:<|\"|>a \"b\" \\ <|\"<|\"|>,day:3,more:{on:true,list:[<|\"|>x<|\"|>,null]}}"
                        + "<tool_call|><|tool_call>call:now{}<tool_call|>",
                "content:Hm.",
                "call 0 time",
                "arguments 0:{\"zone\": \"a \\\"b\\\" \\\\ <|\\\"\", \"day\": 3, \"more\": {\"on\": true,"
                        + " \"list\": [\"x\", null]}}",
                "call 1 now",
                "arguments 1:{}");
        assertParts(KnownFormat.GEMMA, "", "<|tool_call>recall", "content:<|tool_call>recall");
    }

    @Test
    void marksOfReasoningThatAreOnlyPartlyControlTokensAreRead() {
        CollectedReply reply = new CollectedReply();
        TemplateFormat format = TemplateFormat.of("{{ tools }} <|tool_call> <|channel>thought", Optional.empty());
        ReplyParser parser = ReplyParser.of(format, "", TOOLS, reply);
        parser.marker("<|channel>");
        parser.text("thought\nHm.");
        parser.marker("<channel|>");
        parser.marker("<|tool_call>");
        parser.text("call:time{zone:");
        parser.marker("<|\"|>");
        parser.text("UTC");
        parser.marker("<|\"|>");
        parser.text("}");
        parser.marker("<tool_call|>");
        parser.finish();
        assertEquals("\nHm.", reply.reasoning());
        assertEquals("", reply.content());
        assertEquals("{\"zone\": \"UTC\"}", reply.calls().getFirst().arguments().toString());
    }

    @Test
    void numberedCallsAreRead() {
        assertParts(
                KnownFormat.KIMI,
                "",
                "Hm.<|tool_calls_section_begin|><|tool_call_begin|>functions.time:3<|tool_call_argument_begin|>{\"day\": 1}"
                        + "<|tool_call_end|><|tool_call_begin|>now:4<|tool_call_argument_begin|>{}<|tool_call_end|>"
                        + "<|tool_calls_section_end|>",
                "content:Hm.",
                "call 0 time",
                "arguments 0:{\"day\": 1}",
                "call 1 now",
                "arguments 1:{}");
        CollectedReply reply = new CollectedReply();
        ReplyParser parser =
                ReplyParser.of(TemplateFormat.of("<|tool_calls_section_begin|>", Optional.empty()), "", TOOLS, reply);
        String call = "<|tool_call_begin|>functions.time:3<|tool_call_argument_begin|>{}<|tool_call_end|>";
        parser.text("<|tool_calls_section_begin|>" + call + call);
        parser.finish();
        assertEquals("functions.time:3", reply.calls().getFirst().id());
        assertTrue(reply.calls().getLast().id().startsWith("call_"));
    }

    @Test
    void callsOfChannelsThatCannotBeReadAreText() {
        String call = "<|channel|>commentary to=functions.time<|message|>";
        String next = "<|start|>assistant<|channel|>commentary to=now<|message|>{}<|call|>";
        assertParts(
                KnownFormat.CHANNELS,
                "<|start|>assistant",
                call + "{\"zone\": \"a\", \"zone\": \"b\"}<|call|>" + next,
                "call 0 time",
                "arguments 0:{\"zone\": \"a\", \"zone\": \"b\"}",
                "call 1 now",
                "arguments 1:{}");
        for (String bad : List.of("{\"zone\": ", "{\"zone\": 1}}")) {
            assertParts(
                    KnownFormat.CHANNELS,
                    "<|start|>assistant",
                    call + bad + "<|call|>" + next,
                    "call 0 time",
                    "arguments 0:" + bad.replace("}}", "}"),
                    "uncalled 0",
                    "content:" + call + bad + "<|call|>",
                    "call 1 now",
                    "arguments 1:{}");
        }
        String unknown = "<|channel|>commentary to=python<|message|>1 + 1";
        assertParts(KnownFormat.CHANNELS, "<|start|>assistant", unknown + "<|call|>", "content:" + unknown);
        String thought = "<|channel|>analysis to=python<|message|>1 + 1";
        assertParts(KnownFormat.CHANNELS, "<|start|>assistant", thought + "<|call|>", "reasoning:" + thought);
    }

    @Test
    void messagesOfChannelsAreToldApart() {
        assertParts(
                KnownFormat.CHANNELS,
                "<|start|>assistant",
                "<|channel|>analysis<|message|>Hm. <b<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see."
                        + "<|end|><|start|>assistant<|channel|>commentary to=functions.time <|constrain|>json<|message|>"
                        + "{\"zone\": \"a\"}<|call|>",
                "reasoning:Hm. <b",
                "content:Let me see.",
                "call 0 time",
                "arguments 0:{\"zone\": \"a\"}");
        assertParts(
                KnownFormat.CHANNELS,
                "<|start|>assistant",
                " to=functions.now<|channel|>commentary json<|message|>",
                "call 0 now",
                "arguments 0:{}");
        assertParts(
                KnownFormat.CHANNELS,
                "<|start|>assistant",
                "<|channel|>final<|message|>Yes.<|return|>",
                "content:Yes.");
        assertParts(KnownFormat.CHANNELS, "<|start|>assistant", "No header.", "content:No header.");
        assertParts(KnownFormat.CHANNELS, "<|end|><|start|>assistant<|channel|>final<|message|>Ye", "s.", "content:s.");
    }

    @Test
    void theTemplateTellsTheFormat() {
        assertEquals(KnownFormat.LISTED, calls("{{ tools }} [TOOL_CALLS]"));
        assertEquals(KnownFormat.NAMED, calls("{{ tools }} [TOOL_CALLS] [ARGS]"));
        assertEquals(KnownFormat.TAGGED, calls("{{ tools }} <tool_call>"));
        assertEquals(KnownFormat.FUNCTION, calls("{{ tools }} <tool_call> <function= <parameter="));
        assertEquals(KnownFormat.ARGUMENT, calls("{{ tools }} <tool_call> <arg_key>"));
        assertEquals(KnownFormat.SEED, calls("{{ tools }} <seed:tool_call> <function= <parameter="));
        assertEquals(KnownFormat.KIMI, calls("{{ tools }} <|tool_calls_section_begin|>"));
        assertEquals(KnownFormat.GEMMA, calls("{{ tools }} <|tool_call>call:"));
        assertEquals(KnownFormat.LFM, calls("List of tools: <|tool_list_start|>[{{ tools }}]<|tool_list_end|>"));
        assertEquals(KnownFormat.LFM, calls("List of tools: [{{ tools }}]"));
        assertEquals(KnownFormat.PYTHONIC, calls("{{ tools }} [func_name1(params_name1=params_value1)]"));
        assertEquals(KnownFormat.DSML, calls("{{ tools }} ｜DSML｜ <{{ t }}function_calls> {{ tool_calls }}"));
        assertEquals(KnownFormat.DSML_CALLS, calls("{{ tools }} ｜DSML｜ <{{ t }}tool_calls>"));
        assertEquals(KnownFormat.HUNYUAN, calls("{{ tools }} <tool_calls>[{\"name\""));
        assertEquals(KnownFormat.ACTION, calls("{{ tools }} 'Action:' ```json \"tool_name\""));
        assertEquals(KnownFormat.INVOKE, calls("{{ tools }} <minimax:tool_call> <parameter"));
        assertEquals(KnownFormat.DEEPSEEK, calls("<｜tool▁calls▁begin｜>"));
        assertEquals(KnownFormat.DEEPSEEK_FENCED, calls("<｜tool▁calls▁begin｜> ```json"));
        assertEquals(KnownFormat.CHANNELS, calls("{{ tools }} <|channel|>analysis<|message|>"));
        assertEquals(KnownFormat.BARE, calls("{{ tools }} {\"name\": x, \"parameters\": y}"));
        assertEquals(
                new TemplateFormat(new ReplyFormat(KnownFormat.TAGGED.calls(), Reasoning.THINK), false, false),
                TemplateFormat.of("{{ messages }}", Optional.empty()));
        assertEquals(
                new TemplateFormat(new ReplyFormat(KnownFormat.DEEPSEEK.calls(), Reasoning.THINK), false, true),
                TemplateFormat.of("{{ tool_calls }} <｜tool▁calls▁begin｜>", Optional.empty()));
        assertEquals(
                "[/THINK]",
                TemplateFormat.of("[THINK] {{ messages }}", Optional.empty()).thought());
    }

    private static KnownFormat calls(String template) {
        CallFormat shown = TemplateFormat.of(template, Optional.empty()).calls();
        return Stream.of(KnownFormat.values())
                .filter(each -> each.calls() == shown)
                .findFirst()
                .orElseThrow();
    }
}
