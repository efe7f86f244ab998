package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.options.MediaOptions;
import dev.tenon.platform.cli.options.ModelDefaults;
import java.util.List;

/// Makes prompts of texts and conversations.
final class Prompts {
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

    /// {@return a message of the user}
    ///
    /// @param text its text, with marks for pictures and sounds that do not stand before it
    /// @param parts what they are
    /// @throws TenonException (`CLI-001`) if it has more marks
    static ChatTurn user(String text, List<MediaPart> parts) {
        return new ChatTurn(ChatTurn.USER, MediaOptions.placed(text, parts.size()), null, List.of(), null, null, parts);
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
}
