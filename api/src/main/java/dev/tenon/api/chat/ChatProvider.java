package dev.tenon.api.chat;

import dev.tenon.api.engine.LoadedModel;
import org.osgi.annotation.versioning.ConsumerType;

/// Makes models chat: writes prompts and reads replies. The platform has one, of rank 0; a bundle puts another in its
/// place by a higher service ranking, as a [dev.tenon.api.text.SamplerProvider] does. Safe for any thread.
@ConsumerType
public interface ChatProvider {
    /// Prepares a model to chat. Nothing is computed yet; what is prepared later is kept with the result,
    /// so keep it as long as the model.
    ///
    /// @param model the model; whoever loaded it closes it
    /// @return how it chats; there is nothing to close
    ChatModel chat(LoadedModel model);
}
