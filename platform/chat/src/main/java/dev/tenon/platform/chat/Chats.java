package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.core.control.ScheduledModel;
import java.util.Optional;

/// How a model chats: by the provider that its engine chooses now, or by [TenonChats] where none is installed. Keeps
/// what was prepared until another provider is chosen. Safe for any thread.
public final class Chats {
    private static final ChatProvider OWN = new TenonChats();

    private ChatProvider provider;
    private ChatModel chat;

    /// Prepares nothing yet.
    public Chats() {}

    /// {@return how a model chats}
    ///
    /// Whoever answers one message asks once: prompts and readers of two providers do not fit.
    ///
    /// @param model the model, the same as before unless that was closed
    public synchronized ChatModel of(LoadedModel model) {
        Optional<ChatProvider> chosen =
                model instanceof ScheduledModel scheduled ? scheduled.chatProvider() : Optional.empty();
        ChatProvider now = chosen.orElse(OWN);
        if (chat == null || chat.model() != model || provider != now) {
            provider = now;
            chat = now.chat(model);
        }
        return chat;
    }
}
