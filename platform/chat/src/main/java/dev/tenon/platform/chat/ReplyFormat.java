package dev.tenon.platform.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufMetadata;

/// How a model writes what is not plain answer, as its template shows.
///
/// @param calls how it calls tools
/// @param takesTools whether its template writes the tools into the prompt
/// @param takesCalls whether its template writes calls and their results
/// @param think what begins its reasoning
/// @param thought what ends it
public record ReplyFormat(CallFormat calls, boolean takesTools, boolean takesCalls, String think, String thought) {
    static final String TEMPLATE = "tokenizer.chat_template";

    private static final String[][] REASONING = {
        {"<|START_THINKING|>", "<|END_THINKING|>"},
        {"[THINK]", "[/THINK]"},
        {"<|channel>thought", "<channel|>"},
        {"<seed:think>", "</seed:think>"}
    };

    /// That of texts, which have no calls and no reasoning.
    public static final ReplyFormat PLAIN = of("");

    /// {@return the format of a model}
    ///
    /// @param model has the template
    public static ReplyFormat of(LoadedModel model) {
        GgufMetadata metadata = model.file().metadata();
        return of(metadata.string(TEMPLATE).orElse(""));
    }

    /// {@return the format that a template shows}
    ///
    /// @param template its source
    static ReplyFormat of(String template) {
        boolean tools = template.contains("tools");
        CallFormat own = own(template, tools);
        CallFormat calls = own == null ? CallFormat.TAGGED : own;
        boolean takesTools = tools && own != null;
        boolean takesCalls = takesTools && own != CallFormat.LFM || own != null && template.contains("tool_calls");
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
