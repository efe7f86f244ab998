package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.options.ModelDefaults;

/// Makes prompts of texts and conversations.
final class Prompts {
    private static final int LONG_TEXT = 1 << 20;

    private Prompts() {}

    /// {@return the prompt of a conversation, ready for the assistant's next turn; control tokens in its messages are
    ///     text}
    ///
    /// @param chat how the model chats
    /// @param request the conversation
    /// @throws ModelFormatException (`MODEL-009`) if the model has no template, or the template
    ///     refuses
    /// @throws OutOfResourcesException (`LIMIT-001`) if it does not fit the context
    static ChatPrompt prompt(ChatModel chat, ChatRequest request) {
        if (chat.model().chatTemplate().isEmpty()) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TEMPLATE,
                    chat.model().file().path()
                            + " has no chat template. Use 'tenon run' without --chat for plain completion.");
        }
        return chat.prompt(request);
    }

    /// Refuses to chat with a model that continues texts.
    ///
    /// @param model has the template
    /// @param name what the user calls it, or null for the configured one
    /// @param answers whether it is to answer
    /// @throws TenonException (`CLI-001`) if it has no template, or is not to answer
    static void requireChat(LoadedModel model, String name, boolean answers) {
        if (!answers || model.chatTemplate().isEmpty()) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    model.config().name() + " continues texts and does not chat. Give it a beginning: tenon run "
                            + (name == null ? "" : name + " ") + "\"Once upon a time\"");
        }
    }

    /// Says that no answers are to be expected, if the model is known to continue texts.
    ///
    /// @param console where to say it
    /// @param model chats all the same
    /// @param defaults say what it is for
    static void noteWhatAnswers(Console console, LoadedModel model, ModelDefaults defaults) {
        if (!defaults.answers()) {
            console.note("(" + model.config().name()
                    + " continues texts, such as stories; it was not made to answer, so what it says is no answer)");
        }
    }

    /// Refuses a text that cannot fit the context, before tokenizing it takes forty times its size
    /// of memory.
    ///
    /// @param model has vocabulary and context
    /// @param text what is to be tokenized
    /// @throws OutOfResourcesException (`LIMIT-001`) if it has more tokens than the context even if
    ///     each is the vocabulary's longest
    static void checkLength(LoadedModel model, String text) {
        int tokens = leastTokens(model, text);
        if (tokens > model.contextLength()) {
            throw new OutOfResourcesException(
                    ErrorCode.CONTEXT_LENGTH,
                    "The text of " + text.length() + " characters has at least " + tokens
                            + " tokens; the context holds " + model.contextLength()
                            + ". Shorten it, or load the model with a larger context (-c).",
                    tokens,
                    0,
                    model.contextLength());
        }
    }

    /// {@return how many tokens a long text has at least: as many as if each were the vocabulary's
    ///     longest; 0 for a text that is short enough to be tokenized}
    ///
    /// @param model has the vocabulary
    /// @param text the text
    private static int leastTokens(LoadedModel model, String text) {
        if (text.length() < LONG_TEXT) {
            return 0;
        }
        Tokenizer tokenizer = model.tokenizer();
        int longest = 1;
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            longest = Math.max(longest, tokenizer.bytes(id).length);
        }
        return text.length() / longest;
    }
}
