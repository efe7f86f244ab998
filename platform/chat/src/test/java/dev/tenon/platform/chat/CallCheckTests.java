package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Calls that templates write are read.
class CallCheckTests {
    private static final ChatTemplateEngine ENGINE =
            ServiceLoader.load(ChatTemplateEngine.class).findFirst().orElseThrow();
    private static final Map<String, Object> VARIABLES = Map.of("bos_token", "<s>", "eos_token", "</s>");
    /// Around what stands for a call, in which `f` is the function and `a` its arguments.
    private static final String TEMPLATE = "{%% for m in messages %%}<|{{ m.role }}|>%s{{ m.content }}"
            + "{%% for c in m.tool_calls %%}{%% set f = c.function %%}{%% set a = f.arguments %%}%s{%% endfor %%}</s>"
            + "{%% endfor %%}{%% if add_generation_prompt %%}<|assistant|>{%% endif %%}{%% if tools %%}{%% endif %%}";
    private static final String OBJECT = "{\"name\": \"{{ f.name }}\", \"arguments\": {{ a | tojson }}}";
    private static final String PYTHON = "[{{ f.name }}({% for k, v in a | items %}{{ k }}={{ v | tojson }}"
            + "{% if not loop.last %}, {% endif %}{% endfor %})]";
    private static final String TEXT = "{{ v if v is string else v | tojson }}";

    /// {@return what a template has for a call in a form, and, after a bar, elsewhere}
    private static String[] call(KnownFormat format) {
        return switch (format) {
            case TAGGED -> new String[] {"<tool_call>\n" + OBJECT + "\n</tool_call>", ""};
            case BARE -> new String[] {OBJECT.replace("arguments", "parameters"), ""};
            case LISTED -> new String[] {"[TOOL_CALLS][" + OBJECT + "]", ""};
            case NAMED -> new String[] {"[TOOL_CALLS]{{ f.name }}[CALL_ID]{{ c.id }}[ARGS]{{ a | tojson }}", ""};
            case LFM -> new String[] {"<|tool_call_start|>" + PYTHON + "<|tool_call_end|>", ""};
            case PYTHONIC -> new String[] {PYTHON, "{# [func_name1( #}"};
            case GEMMA ->
                new String[] {
                    "<|tool_call>call:{{ f.name }}{{ w(a) }}<tool_call|>",
                    "{% macro w(v) %}{% if v is mapping %}{{ '{' }}{% for k, x in v | items %}{{ k }}:{{ w(x) }}"
                            + "{% if not loop.last %},{% endif %}{% endfor %}{{ '}' }}{% elif v is string %}"
                            + "<|\"|>{{ v }}<|\"|>{% elif v is sequence %}[{% for x in v %}{{ w(x) }}"
                            + "{% if not loop.last %},{% endif %}{% endfor %}]{% else %}{{ v | tojson }}{% endif %}"
                            + "{% endmacro %}"
                };
            case KIMI ->
                new String[] {
                    "<|tool_calls_section_begin|><|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>{{ a | tojson }}"
                            + "<|tool_call_end|><|tool_calls_section_end|>",
                    ""
                };
            case NEMOTRON -> new String[] {"<TOOLCALL>[" + OBJECT + "]</TOOLCALL>", ""};
            case GRANITE -> new String[] {"<|tool_call|>[" + OBJECT + "]", ""};
            case COMMAND ->
                new String[] {
                    "<|START_ACTION|>[\n {\"tool_call_id\": \"0\", \"tool_name\": \"{{ f.name }}\", \"parameters\": "
                            + "{{ a | tojson }}}\n]<|END_ACTION|>",
                    ""
                };
            case DEEPSEEK ->
                new String[] {
                    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{{ f.name }}<｜tool▁sep｜>{{ a | tojson }}"
                            + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                    ""
                };
            case DEEPSEEK_FENCED ->
                new String[] {
                    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{{ f.name }}\n```json\n{{ a | tojson }}"
                            + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                    ""
                };
            case FUNCTION ->
                new String[] {
                    "<tool_call>\n<function={{ f.name }}>\n{% for k, v in a | items %}<parameter={{ k }}>\n" + TEXT
                            + "\n</parameter>\n{% endfor %}</function>\n</tool_call>",
                    ""
                };
            case SEED ->
                new String[] {
                    "<seed:tool_call>\n<function={{ f.name }}>\n{% for k, v in a | items %}<parameter={{ k }}>" + TEXT
                            + "</parameter>\n{% endfor %}</function>\n</seed:tool_call>",
                    ""
                };
            case ARGUMENT ->
                new String[] {
                    "<tool_call>{{ f.name }}\n{% for k, v in a | items %}<arg_key>{{ k }}</arg_key>\n<arg_value>" + TEXT
                            + "</arg_value>\n{% endfor %}</tool_call>",
                    ""
                };
            case INVOKE ->
                new String[] {
                    "<minimax:tool_call>\n<invoke name=\"{{ f.name }}\">\n{% for k, v in a | items %}"
                            + "<parameter name=\"{{ k }}\">" + TEXT
                            + "</parameter>\n{% endfor %}</invoke>\n</minimax:tool_call>",
                    ""
                };
            case DSML, DSML_CALLS -> {
                String mark = format == KnownFormat.DSML ? "function_calls" : "tool_calls";
                yield new String[] {
                    "<｜DSML｜" + mark + ">\n<｜DSML｜invoke name=\"{{ f.name }}\">\n{% for k, v in a | items %}"
                            + "<｜DSML｜parameter name=\"{{ k }}\" string=\"{{ 'true' if v is string else 'false' }}\">"
                            + TEXT + "</｜DSML｜parameter>\n{% endfor %}</｜DSML｜invoke>\n</｜DSML｜" + mark + ">",
                    ""
                };
            }
            case HUNYUAN -> new String[] {"<tool_calls>[" + OBJECT + "]</tool_calls>", ""};
            case ACTION ->
                new String[] {
                    "\nAction:\n```json\n[\n    {\n        \"tool_name\": \"{{ f.name }}\",\n        \"parameters\": "
                            + "{{ a | tojson(indent=4) | indent(8) }}\n    }\n]```\n",
                    ""
                };
            case CHANNELS ->
                new String[] {
                    "<|channel|>commentary to=functions.{{ f.name }} <|constrain|>json<|message|>{{ a | tojson }}<|call|>",
                    ""
                };
        };
    }

    private static String source(KnownFormat format) {
        String[] parts = call(format);
        // The parameters of a tool are somewhere in a template that writes tools.
        String source =
                parts[1] + "{# \"parameters\" #}" + TEMPLATE.formatted("", "@").replace("@", parts[0]);
        return format == KnownFormat.CHANNELS
                ? source.replace("<|{{ m.role }}|>", "<|start|>{{ m.role }}")
                        .replace("<|assistant|>", "<|start|>assistant")
                : source;
    }

    @ParameterizedTest
    @EnumSource(KnownFormat.class)
    void callsOfTheirTemplatesAreRead(KnownFormat format) {
        String source = source(format);
        TemplateFormat shown = TemplateFormat.of(source, Optional.empty());
        assertEquals(format.calls(), shown.calls());
        assertTrue(shown.takesTools() && shown.takesCalls());
        assertTrue(CallCheck.allComesBack(shown, ENGINE.compile(source), VARIABLES));
        String thinking = TEMPLATE.formatted("{% if m.tool_calls %}<think>\n\n</think>\n\n{% endif %}", "@")
                .replace("@", call(format)[0]);
        if (format != KnownFormat.CHANNELS) {
            ChatTemplate template = ENGINE.compile(call(format)[1] + thinking);
            assertTrue(CallCheck.allComesBack(shown, template, VARIABLES));
        }
    }

    @Test
    void callsAfterMarksOfTheAnswerAreRead() {
        String answer = "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n\n<response>\n\n</response>\n{% endif %}";
        String source = TEMPLATE.formatted(answer, "@").replace("@", call(KnownFormat.TAGGED)[0]);
        TemplateFormat shown = TemplateFormat.of(source, Optional.empty());
        assertEquals("</response>", shown.reply().reasoning().answerClose());
        assertTrue(CallCheck.allComesBack(shown, ENGINE.compile(source), VARIABLES));
    }

    @Test
    void callsInOtherFormsAreNoticed() {
        String[] others = {
            "<tool_call_list>[" + OBJECT + "]</tool_call_list>", // looks like <tool_call>
            "call<|sep|>" + OBJECT,
            "<tool_call>{{ f.name }}: {{ a | tojson }}</tool_call>",
            "",
            "{{ raise_exception('no calls') }}"
        };
        for (String other : others) {
            String source = "{# \"parameters\" <tool_call> #}"
                    + TEMPLATE.formatted("", "@").replace("@", other);
            TemplateFormat shown = TemplateFormat.of(source, Optional.empty());
            assertTrue(shown.takesCalls());
            assertEquals(
                    new TemplateFormat(new ReplyFormat(KnownFormat.TAGGED.calls(), Reasoning.THINK), false, false),
                    shown.checked(ENGINE.compile(source), VARIABLES, "m"),
                    other);
        }
        String one =
                "{% if a is not string %}{{ raise_exception('text') }}{% endif %}<tool_call>{\"name\": \"{{ f.name }}\","
                        + " \"arguments\": {{ a }}}</tool_call>";
        String source = TEMPLATE.formatted("", "@").replace("@", one);
        TemplateFormat text = TemplateFormat.of(source, Optional.empty());
        assertSame(text, text.checked(ENGINE.compile(source), VARIABLES, "m"), "arguments as text");
        String simple = TEMPLATE.formatted("", "@")
                .replace(
                        "@",
                        "<tool_call>{\"name\": \"{{ f.name }}\", \"arguments\": "
                                + "{\"text\": \"{{ a.text }}\", \"count\": {{ a.count }}}}</tool_call>");
        TemplateFormat quoteless = TemplateFormat.of(simple, Optional.empty());
        assertSame(quoteless, quoteless.checked(ENGINE.compile(simple), VARIABLES, "m"), "no quotes");
    }

    /// Templates of real models, which are no part of this project: the folder chat-templates.
    @Test
    void callsOfRealTemplatesAreReadOrNoticed() throws IOException {
        String shared =
                System.getProperty("TENON_SHARED", System.getenv().getOrDefault("TENON_SHARED", "../../../shared"));
        Path folder = Path.of(System.getProperty("tenon.chat.templates", shared + "/chat-templates"));
        assumeTrue(
                Files.isDirectory(folder), "no templates in " + folder + "; tenon.chat.templates names their folder");
        List<String> lost = new ArrayList<>();
        int read = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".jinja"))
                    .sorted()
                    .toList()) {
                String source = Files.readString(file);
                TemplateFormat shown = TemplateFormat.of(source, Optional.empty());
                try {
                    boolean back = shown.takesCalls() && CallCheck.comesBack(shown, ENGINE.compile(source), VARIABLES);
                    read += back ? 1 : 0;
                    if (shown.takesCalls() && !back) {
                        lost.add(file.getFileName() + " (" + shown.calls() + ")");
                    }
                } catch (TenonException e) {
                    lost.add(file.getFileName() + " (" + e.getMessage() + ")");
                }
            }
        }
        System.out.println("Calls of " + read + " templates are read; instructions instead: " + lost);
        assertTrue(read > lost.size(), () -> "lost: " + lost);
    }
}
