package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.chat.Chats;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.cli.options.MediaOptions;
import java.util.List;

/// What `run` has a model read: a message that it answers, or a text that it continues.
///
/// @param chat how the model chats; null for a text that it continues
/// @param request the message; null for a text
/// @param prompt what it reads
record Question(ChatModel chat, ChatRequest request, ChatPrompt prompt) {
    /// {@return a message to answer}
    ///
    /// @param model answers it
    /// @param request the message
    static Question toAnswer(LoadedModel model, ChatRequest request) {
        ChatModel chat = new Chats().of(model);
        return new Question(chat, request, Prompts.prompt(chat, request));
    }

    /// {@return a text to continue; pictures and sounds without a place in it stand before it}
    ///
    /// @param model continues it
    /// @param text the text, with marks for pictures and sounds
    /// @param parts what they are
    static Question toContinue(LoadedModel model, String text, List<MediaPart> parts) {
        if (parts.isEmpty()) {
            int[] tokens = model.tokenizer().encode(text, true, true);
            return new Question(null, null, new ChatPrompt(text, new int[0], tokens, List.of()));
        }
        String placed = MediaOptions.placed(text, parts.size());
        long places = placed.chars().filter(c -> c == MediaPart.PLACE).count();
        String all = String.valueOf(MediaPart.PLACE).repeat((int) Math.max(0, parts.size() - places)) + placed;
        MediaPrompts.Encoded encoded = MediaPrompts.encode(model, all, true, parts);
        return new Question(null, null, new ChatPrompt(all, new int[0], encoded.tokens(), encoded.media()));
    }

    /// {@return what a reply must keep to, as the message asks; null if that is nothing}
    TokenConstraint constraint() {
        return chat == null ? null : chat.constraint(request, prompt).orElse(null);
    }

    /// Has the reply read as one to the message.
    ///
    /// @param output takes the reply
    void readTo(RunOutput output) {
        if (chat != null) {
            output.readBy(chat.reader(request, prompt, output));
        }
    }
}
