package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.Channels;
import dev.tenon.api.chat.CallFormat.JsonObject;
import dev.tenon.api.chat.CallFormat.NameThenJson;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Notation;
import dev.tenon.api.chat.CallFormat.Shape;
import dev.tenon.api.chat.CallFormat.Wording;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The formats of calls that are known without a bundle, and what in a template shows them; in the
/// order in which they are asked. Nothing but this table names one of them, but for [#TAGGED].
enum KnownFormat {
    /// Messages to tools, in the channels of Harmony, of gpt-oss.
    CHANNELS(
            shown("<|channel|>", "<|message|>"),
            new Channels(),
            call("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", ""),
            null,
            "<|channel|>"),
    /// Names before JSON objects, of Mistral since version 11.
    NAMED(
            shown("[TOOL_CALLS]", "[ARGS]"),
            new NameThenJson(Optional.empty(), Optional.of("[CALL_ID]")),
            call("[TOOL_CALLS]", "[ARGS]", ""),
            "",
            "[TOOL_CALLS]",
            "[ARGS]",
            "[CALL_ID]"),
    /// A list of JSON objects, of Mistral.
    LISTED(shown("[TOOL_CALLS]"), object(), list("[TOOL_CALLS]", ""), ", ", "[TOOL_CALLS]"),
    /// Names before fenced JSON, of DeepSeek R1 and V3.
    DEEPSEEK_FENCED(
            shown("<｜tool▁calls▁begin｜>", "```json"),
            new NameThenJson(Optional.empty(), Optional.empty()),
            new Wording(
                    "<｜tool▁calls▁begin｜>",
                    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
                    "\n```json\n",
                    "\n```<｜tool▁call▁end｜>",
                    "<｜tool▁calls▁end｜>"),
            "\n",
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
            "```json",
            "```"),
    /// Names before JSON, of DeepSeek V3.1.
    DEEPSEEK(
            shown("<｜tool▁calls▁begin｜>"),
            new NameThenJson(Optional.empty(), Optional.empty()),
            new Wording(
                    "<｜tool▁calls▁begin｜>",
                    "<｜tool▁call▁begin｜>",
                    "<｜tool▁sep｜>",
                    "<｜tool▁call▁end｜>",
                    "<｜tool▁calls▁end｜>"),
            "",
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>"),
    /// A tag for each parameter that tells whether it is a string, of DeepSeek V3.2.
    DSML(
            List.of(List.of("<｜DSML｜function_calls>"), List.of("｜DSML｜", "function_calls>")),
            dsml(),
            dsml("function_calls>"),
            "",
            "<｜DSML｜function_calls>",
            "</｜DSML｜function_calls>"),
    /// The same in another mark, of DeepSeek V4.
    DSML_CALLS(
            List.of(List.of("<｜DSML｜tool_calls>"), List.of("｜DSML｜", "tool_calls>")),
            dsml(),
            dsml("tool_calls>"),
            "",
            "<｜DSML｜tool_calls>",
            "</｜DSML｜tool_calls>"),
    /// A tag for each parameter, of MiniMax.
    INVOKE(
            shown("<minimax:tool_call>"),
            new NameThenTags("<parameter name=\"", "\">", "", "</parameter>", false),
            new Wording("<minimax:tool_call>\n", "<invoke name=\"", "\">\n", "</invoke>\n", "</minimax:tool_call>"),
            "",
            "<minimax:tool_call>",
            "</minimax:tool_call>"),
    /// A list of Python calls, of LFM2 and LFM2.5, which also write JSON objects where they are
    /// asked to.
    LFM(
            List.of(List.of("<|tool_list_start|>"), List.of("List of tools: ["), List.of("<|tool_call_start|>")),
            new NameThenLiterals(Notation.PYTHON),
            new Wording("<|tool_call_start|>[", "", "(", ")", "]<|tool_call_end|>"),
            ", ",
            "<|tool_call_start|>",
            "<|tool_call_end|>"),
    /// A tag for each parameter, as [#FUNCTION] in other marks, of Seed-OSS.
    SEED(
            shown("<seed:tool_call>"),
            new NameThenTags("<parameter=", ">", "", "</parameter>", false),
            call("<seed:tool_call>\n<function=", ">\n", "</function>\n</seed:tool_call>"),
            "\n",
            "<seed:tool_call>",
            "</seed:tool_call>"),
    /// The reply is a list of Python calls, of Llama 4.
    PYTHONIC(
            shown("[func_name1("),
            new NameThenLiterals(Notation.PYTHON),
            new Wording("[", "", "(", ")", "]"),
            ", ",
            List.of("<|python_start|>", "<|python_end|>"),
            true),
    /// Tags for keys and values, of GLM.
    ARGUMENT(
            shown("<arg_key>"),
            new NameThenTags("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", false),
            call("<tool_call>", "\n", "</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// A tag for each parameter, of Qwen3-Coder, Qwen3.5 and Nemotron 3.
    FUNCTION(
            shown("<function=", "<parameter="),
            new NameThenTags("<parameter=", ">", "", "</parameter>", true),
            call("<tool_call>\n<function=", ">\n", "</function>\n</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// Numbered names before JSON, of Kimi K2.
    KIMI(
            shown("<|tool_calls_section_begin|>"),
            new NameThenJson(Optional.of(":"), Optional.empty()),
            new Wording(
                    "<|tool_calls_section_begin|>",
                    "<|tool_call_begin|>functions.",
                    "<|tool_call_argument_begin|>",
                    "<|tool_call_end|>",
                    "<|tool_calls_section_end|>"),
            "",
            "<|tool_calls_section_begin|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
            "<|tool_calls_section_end|>"),
    /// Names before members in quotes of their own, of Gemma 4.
    GEMMA(
            shown("<|tool_call>"),
            new NameThenLiterals(Notation.GEMMA),
            call("<|tool_call>call:", "{", "}<tool_call|>"),
            "",
            "<|tool_call>",
            "<tool_call|>",
            "<|\"|>"),
    /// A list, of Nemotron.
    NEMOTRON(shown("<TOOLCALL>"), object(), list("<TOOLCALL>", "</TOOLCALL>"), ", ", "<TOOLCALL>", "</TOOLCALL>"),
    /// A list, of Hunyuan-A13B.
    HUNYUAN(
            shown("<tool_calls>[{"),
            object(),
            list("<tool_calls>", "</tool_calls>"),
            ", ",
            "<tool_calls>",
            "</tool_calls>"),
    /// A list of JSON objects with other keys, of Command.
    COMMAND(
            shown("<|START_ACTION|>"),
            new JsonObject("tool_name", "parameters"),
            new Wording(
                    "<|START_ACTION|>[",
                    "{\"tool_call_id\": \"0\", \"tool_name\": ",
                    ", \"parameters\": ",
                    "}",
                    "]<|END_ACTION|>"),
            null,
            "<|START_ACTION|>",
            "<|END_ACTION|>"),
    /// A fenced list, of Command R and R+.
    ACTION(
            shown("Action:", "```json", "\"tool_name\""),
            new JsonObject("tool_name", "parameters"),
            new Wording("Action: ```json\n[\n", "{\"tool_name\": ", ", \"parameters\": ", "}", "\n]```"),
            ",\n",
            "Action:",
            "```json",
            "```"),
    /// A list, of Granite 3 and Phi 4.
    GRANITE(shown("<|tool_call|>"), object(), list("<|tool_call|>", ""), ", ", "<|tool_call|>", "<|/tool_call|>"),
    /// A tagged JSON object, of Hermes and Qwen; also what models without a format of their own are
    /// asked for.
    TAGGED(
            shown("<tool_call>"),
            object(),
            call("<tool_call>\n{\"name\": ", ", \"arguments\": ", "}\n</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// The reply is a JSON object, of Llama 3.
    BARE(
            shown("tools", "\"parameters\""),
            new JsonObject("name", "parameters"),
            call("{\"name\": ", ", \"parameters\": ", "}"),
            null,
            List.of("<|python_tag|>"),
            true);

    private final List<List<String>> shown;
    private final CallFormat calls;

    /// @param shown lists of texts: a template shows the format if it has all of one list
    /// @param between what stands between two calls; null where a reply has one
    KnownFormat(List<List<String>> shown, Shape shape, Wording wording, String between, String... marks) {
        this(shown, shape, wording, between, List.of(marks), false);
    }

    KnownFormat(
            List<List<String>> shown, Shape shape, Wording wording, String between, List<String> marks, boolean bare) {
        this.shown = shown;
        this.calls = new CallFormat(shape, wording, Optional.ofNullable(between), marks, bare);
    }

    private static List<List<String>> shown(String... texts) {
        return List.of(List.of(texts));
    }

    private static NameThenTags dsml() {
        return new NameThenTags(
                "<｜DSML｜parameter name=\"",
                "\" string=\"true\">",
                "\" string=\"false\">",
                "",
                "</｜DSML｜parameter>",
                false);
    }

    private static Wording dsml(String mark) {
        return new Wording(
                "<｜DSML｜" + mark + "\n", "<｜DSML｜invoke name=\"", "\">\n", "</｜DSML｜invoke>\n", "</｜DSML｜" + mark);
    }

    private static JsonObject object() {
        return new JsonObject("name", "arguments");
    }

    private static Wording call(String prefix, String middle, String suffix) {
        return new Wording("", prefix, middle, suffix, "");
    }

    private static Wording list(String begin, String end) {
        return new Wording(begin + "[", "{\"name\": ", ", \"arguments\": ", "}", "]" + end);
    }

    CallFormat calls() {
        return calls;
    }

    /// {@return the first format that a template shows; empty if it shows none}
    ///
    /// @param template its source
    static Optional<CallFormat> of(String template) {
        return Stream.of(values())
                .filter(each -> each.shown.stream().anyMatch(all -> all.stream().allMatch(template::contains)))
                .findFirst()
                .map(KnownFormat::calls);
    }
}
