package dev.tenon.platform.server.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufMetadata;

/// How a model writes what is not plain answer, as its template shows.
///
/// @param calls how it calls tools
/// @param takesTools whether its template writes the tools into the prompt
public record ReplyFormat(Calls calls, boolean takesTools) {
    static final String TEMPLATE = "tokenizer.chat_template";

    /// How calls of tools are written.
    public enum Calls {
        /// `<tool_call>{"name": …, "arguments": …}</tool_call>`, of Hermes and Qwen; also what models without a form of
        /// their own are asked for.
        TAGGED,
        /// The whole reply is `{"name": …, "parameters": …}`, of Llama 3.
        BARE,
        /// `[TOOL_CALLS]` before a list of calls, or before each name, with `[ARGS]` before the arguments, of Mistral.
        LISTED
    }

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
        if (template.contains("[TOOL_CALLS]")) {
            return new ReplyFormat(Calls.LISTED, tools);
        }
        if (tools && !template.contains("<tool_call>") && template.contains("\"parameters\"")) {
            return new ReplyFormat(Calls.BARE, true);
        }
        return new ReplyFormat(Calls.TAGGED, tools && template.contains("<tool_call>"));
    }
}
