package dev.tenon.platform.chat;

import java.util.List;
import java.util.regex.Pattern;

/// How a model writes calls of tools: marks by which they are found in a reply, and the texts around name and arguments
/// by which forced calls are written.
public enum CallFormat {
    /// A tagged JSON object, of Hermes and Qwen; also what models without a form of their own are asked for.
    TAGGED(
            Shape.OBJECT,
            call("<tool_call>\n{\"name\": ", ", \"arguments\": ", "}\n</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// The reply is a JSON object, of Llama 3.
    BARE(Shape.OBJECT, call("{\"name\": ", ", \"parameters\": ", "}"), null, "<|python_tag|>"),
    /// A list of JSON objects, of Mistral.
    LISTED(Shape.OBJECT, list("[TOOL_CALLS]", ""), ", ", "[TOOL_CALLS]"),
    /// Names before JSON objects, of Mistral since version 11.
    NAMED(Shape.NAME, call("[TOOL_CALLS]", "[ARGS]", ""), "", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
    /// A list of Python calls, of LFM2 and LFM2.5, which also write JSON objects where they are asked to.
    LFM(
            Literals.PYTHON,
            new Wording("<|tool_call_start|>[", "", "(", ")", "]<|tool_call_end|>"),
            ", ",
            "<|tool_call_start|>",
            "<|tool_call_end|>"),
    /// The reply is a list of Python calls, of Llama 4.
    PYTHONIC(Literals.PYTHON, new Wording("[", "", "(", ")", "]"), ", ", "<|python_start|>", "<|python_end|>"),
    /// Names before members in quotes of their own, of Gemma 4.
    GEMMA(
            Literals.GEMMA,
            call("<|tool_call>call:", "{", "}<tool_call|>"),
            "",
            "<|tool_call>",
            "<tool_call|>",
            "<|\"|>"),
    /// Numbered names before JSON, of Kimi K2.
    KIMI(
            Shape.NAME,
            new Wording(
                    "<|tool_calls_section_begin|>",
                    "<|tool_call_begin|>",
                    "<|tool_call_argument_begin|>",
                    "<|tool_call_end|>",
                    "<|tool_calls_section_end|>"),
            "",
            "<|tool_calls_section_begin|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
            "<|tool_calls_section_end|>"),
    /// A list, of Nemotron.
    NEMOTRON(Shape.OBJECT, list("<TOOLCALL>", "</TOOLCALL>"), ", ", "<TOOLCALL>", "</TOOLCALL>"),
    /// A list, of Granite 3 and Phi 4.
    GRANITE(Shape.OBJECT, list("<|tool_call|>", ""), ", ", "<|tool_call|>", "<|/tool_call|>"),
    /// A list of JSON objects with other keys, of Command.
    COMMAND(
            Shape.OBJECT,
            new Wording(
                    "<|START_ACTION|>[",
                    "{\"tool_call_id\": \"0\", \"tool_name\": ",
                    ", \"parameters\": ",
                    "}",
                    "]<|END_ACTION|>"),
            null,
            "<|START_ACTION|>",
            "<|END_ACTION|>"),
    /// Names before JSON, of DeepSeek V3.1.
    DEEPSEEK(
            Shape.NAME,
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
    /// Names before fenced JSON, of DeepSeek R1 and V3.
    DEEPSEEK_FENCED(
            Shape.NAME,
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
    /// A tag for each parameter, of Qwen3-Coder, Qwen3.5 and Nemotron 3.
    FUNCTION(
            new Parameters("<function=", "<parameter=", ">", "", "</parameter>", "</function>", true),
            call("<tool_call>\n<function=", ">\n", "</function>\n</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// The same in other marks, of Seed-OSS.
    SEED(
            new Parameters("<function=", "<parameter=", ">", "", "</parameter>", "</function>", false),
            call("<seed:tool_call>\n<function=", ">\n", "</function>\n</seed:tool_call>"),
            "\n",
            "<seed:tool_call>",
            "</seed:tool_call>"),
    /// Tags for keys and values, of GLM.
    ARGUMENT(
            new Parameters("", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</tool_call>", false),
            call("<tool_call>", "\n", "</tool_call>"),
            "\n",
            "<tool_call>",
            "</tool_call>"),
    /// A tag for each parameter, of MiniMax.
    INVOKE(
            new Parameters("<invoke name=\"", "<parameter name=\"", "\">", "", "</parameter>", "</invoke>", false),
            new Wording("<minimax:tool_call>\n", "<invoke name=\"", "\">\n", "</invoke>\n", "</minimax:tool_call>"),
            "",
            "<minimax:tool_call>",
            "</minimax:tool_call>"),
    /// Messages to tools, in the channels of Harmony, of gpt-oss.
    CHANNELS(
            Shape.NAME,
            call("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", ""),
            null,
            "<|channel|>");

    /// A name with what may stand around it: a type, an id or a number, and what separates it from JSON.
    private static final String NAMED_HEADER =
            "(?:function<｜tool▁sep｜>)?(?<id>(?<name>[A-Za-z_][\\w.-]*)(?::\\d+)?)\\s*"
                    + "(?:\\[CALL_ID\\]\\s*(?<own>[\\w-]+)\\s*)?"
                    + "(?:(?:\\[ARGS\\]|<\\|tool_call_argument_begin\\|>|<｜tool▁sep｜>|```json)\\s*|(?=\\{))";

    /// What a call looks like.
    enum Shape {
        /// A JSON object with name and arguments.
        OBJECT,
        /// A name, then a JSON object.
        NAME,
        /// A name, then a tag for each parameter.
        PARAMETERS,
        /// A name, then names and values.
        LITERALS
    }

    /// The texts around calls.
    ///
    /// @param before before the first call
    /// @param prefix before the name
    /// @param middle between name and arguments
    /// @param suffix after the arguments
    /// @param after after the last call
    record Wording(String before, String prefix, String middle, String suffix, String after) {}

    /// Tags of parameters.
    ///
    /// @param open before the tool's name
    /// @param keyOpen before a key
    /// @param keyEnd after it
    /// @param valueOpen before a value; empty if the key's end is
    /// @param valueEnd after it
    /// @param close after the last value
    /// @param wrapped whether a value has lines of its own
    record Parameters(
            String open,
            String keyOpen,
            String keyEnd,
            String valueOpen,
            String valueEnd,
            String close,
            boolean wrapped) {
        /// {@return what a call begins with; the group `name` is the tool}
        String header() {
            return open.isEmpty()
                    ? "(?<name>[A-Za-z_][\\w.-]*)\\s*(?=" + Pattern.quote(keyOpen) + "|" + Pattern.quote(close) + ")"
                    : Pattern.quote(open) + "\"?(?<name>[^<>\"\\s]+)[\"\\s]*>";
        }
    }

    private final Shape shape;
    private final Parameters parameters;
    private final Literals literals;
    private final Wording wording;
    private final String between;
    private final List<String> marks;
    private final Pattern header;

    CallFormat(Shape shape, Wording wording, String between, String... marks) {
        this(shape, null, null, wording, between, marks);
    }

    CallFormat(Parameters parameters, Wording wording, String between, String... marks) {
        this(Shape.PARAMETERS, parameters, null, wording, between, marks);
    }

    CallFormat(Literals literals, Wording wording, String between, String... marks) {
        this(Shape.LITERALS, null, literals, wording, between, marks);
    }

    private CallFormat(
            Shape shape, Parameters parameters, Literals literals, Wording wording, String between, String... marks) {
        this.shape = shape;
        this.parameters = parameters;
        this.literals = literals;
        this.wording = wording;
        this.between = between;
        this.marks = List.of(marks);
        this.header = Pattern.compile(headerOf());
    }

    private String headerOf() {
        return switch (shape) {
            case OBJECT -> "(?=\\{)";
            case NAME -> NAMED_HEADER;
            case LITERALS -> literals.header() + "|(?=\\{)";
            case PARAMETERS -> parameters.header();
        };
    }

    private static Wording call(String prefix, String middle, String suffix) {
        return new Wording("", prefix, middle, suffix, "");
    }

    private static Wording list(String begin, String end) {
        return new Wording(begin + "[", "{\"name\": ", ", \"arguments\": ", "}", "]" + end);
    }

    Shape shape() {
        return shape;
    }

    /// {@return what a call begins with, from its name if that stands before the arguments: the group `name`, else
    /// none}
    Pattern header() {
        return header;
    }

    /// {@return the tags of parameters; null for other shapes}
    Parameters parameters() {
        return parameters;
    }

    /// {@return the notation of arguments; null for other shapes}
    Literals literals() {
        return literals;
    }

    Wording wording() {
        return wording;
    }

    /// {@return what stands between two calls; null where a reply has one}
    String between() {
        return between;
    }

    /// {@return the mark that begins calls inside an answer, then those that stand around calls}
    List<String> marks() {
        return marks;
    }

    /// {@return the marks that begin calls inside an answer; the tag of a call does where its mark was left out}
    List<String> openers() {
        String open = parameters == null ? "" : parameters.open();
        return open.isEmpty() ? List.of(marks.getFirst()) : List.of(marks.getFirst(), open);
    }

    /// {@return a name as it stands in a call, but for the number after it}
    String written(String name) {
        return shape == Shape.OBJECT ? '"' + name + '"' : this == KIMI ? "functions." + name + ":" : name;
    }

    /// {@return whether a number stands after the name: the place of the call among all of a conversation}
    boolean numbered() {
        return this == KIMI;
    }

    /// {@return whether the reply itself may be calls, without a mark}
    boolean bare() {
        return this == BARE || this == PYTHONIC;
    }
}
