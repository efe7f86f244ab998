package dev.tenon.platform.chat;

import dev.tenon.api.text.ChatTemplate;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How a model writes what is not plain answer, as its template shows.
///
/// @param calls how it calls tools
/// @param takesTools whether its template writes the tools into the prompt
/// @param takesCalls whether its template writes calls and their results
/// @param think what begins its reasoning
/// @param thought what ends it
public record ReplyFormat(CallFormat calls, boolean takesTools, boolean takesCalls, String think, String thought) {
    private static final String[][] REASONING = {
        {"<|START_THINKING|>", "<|END_THINKING|>"},
        {"[THINK]", "[/THINK]"},
        {"<|channel>thought", "<channel|>"},
        {"<seed:think>", "</seed:think>"}
    };

    private static final Logger LOG = LoggerFactory.getLogger(ReplyFormat.class);

    /// That of texts, which have no calls and no reasoning.
    public static final ReplyFormat PLAIN = of("");

    /// {@return this format if the template writes calls in it, or none; else one that leaves calls out of the
    /// template}
    ///
    /// @param template the template
    /// @param variables what it needs beside messages and tools
    /// @param model name of the model, for the log
    ReplyFormat checked(ChatTemplate template, Map<String, Object> variables, String model) {
        if (!takesCalls || CallCheck.comesBack(this, template, variables)) {
            return this;
        }
        LOG.warn(
                "A call that the template of {} writes is not read back as {}: its tools are told as instructions, and"
                        + " calls are asked for in <tool_call> tags",
                model,
                calls);
        return asked();
    }

    /// {@return this format, of a template that lists the tools whatever form of calls it shows}
    ReplyFormat listingTools() {
        return new ReplyFormat(calls, true, takesCalls, think, thought);
    }

    /// {@return a form of calls that the model is asked for in a system message}
    ReplyFormat asked() {
        return new ReplyFormat(CallFormat.TAGGED, false, false, think, thought);
    }

    /// {@return the format that a template shows}
    ///
    /// @param template its source
    static ReplyFormat of(String template) {
        boolean tools = template.contains("tools");
        CallFormat own = own(template, tools);
        CallFormat calls = own == null ? CallFormat.TAGGED : own;
        boolean takesTools = tools && own != null;
        boolean takesCalls = own != null && template.contains("tool_calls");
        for (String[] marks : REASONING) {
            if (template.contains(marks[0])) {
                return new ReplyFormat(calls, takesTools, takesCalls, marks[0], marks[1]);
            }
        }
        return new ReplyFormat(calls, takesTools, takesCalls, "<think>", "</think>");
    }

    /// {@return the form that a template shows; null if it shows none}
    private static CallFormat own(String template, boolean tools) {
        if (template.contains("<|channel|>") && template.contains("<|message|>")) {
            return CallFormat.CHANNELS;
        }
        if (template.contains("[TOOL_CALLS]")) {
            return template.contains("[ARGS]") ? CallFormat.NAMED : CallFormat.LISTED;
        }
        if (template.contains("<｜tool▁calls▁begin｜>")) {
            return template.contains("```json") ? CallFormat.DEEPSEEK_FENCED : CallFormat.DEEPSEEK;
        }
        if (template.contains("<minimax:tool_call>")) {
            return CallFormat.INVOKE;
        }
        if (template.contains("<|tool_list_start|>") || template.contains("List of tools: [")) {
            return CallFormat.LFM;
        }
        if (template.contains("<seed:tool_call>")) {
            return CallFormat.SEED;
        }
        if (template.contains("[func_name1(")) {
            return CallFormat.PYTHONIC;
        }
        if (template.contains("<arg_key>")) {
            return CallFormat.ARGUMENT;
        }
        if (template.contains("<function=") && template.contains("<parameter=")) {
            return CallFormat.FUNCTION;
        }
        for (CallFormat each : new CallFormat[] {
            CallFormat.LFM,
            CallFormat.KIMI,
            CallFormat.GEMMA,
            CallFormat.NEMOTRON,
            CallFormat.COMMAND,
            CallFormat.GRANITE,
            CallFormat.TAGGED
        }) {
            if (template.contains(each.marks().getFirst())) {
                return each;
            }
        }
        return tools && template.contains("\"parameters\"") ? CallFormat.BARE : null;
    }

    /// {@return whether a reply begins inside its reasoning}
    ///
    /// @param prompt the prompt
    public boolean thinks(String prompt) {
        return prompt.stripTrailing().endsWith(think);
    }
}
