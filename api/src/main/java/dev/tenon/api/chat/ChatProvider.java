package dev.tenon.api.chat;

import dev.tenon.api.engine.LoadedModel;
import org.osgi.annotation.versioning.ConsumerType;

/// Makes models chat: a service. Safe for any thread.
@ConsumerType
public interface ChatProvider {
    /// Prepares a model to chat. Nothing is computed yet; what is prepared later is kept with the result,
    /// so keep it as long as the model.
    ///
    /// @param model the model; whoever loaded it closes it
    /// @return how it chats; there is nothing to close
    ChatModel chat(LoadedModel model);
}
