package dev.tenon.api.chat;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.Usage;
import org.osgi.annotation.versioning.ProviderType;

/// Splits a reply into text, reasoning and calls of tools, as it is generated: hears a generation
/// ([dev.tenon.api.engine.Session#generate]), tells [ChatEvents]. For one reply and one thread at a time.
@ProviderType
public interface ReplyReader extends GenerationListener {
    /// Ends the reply: what was held back is told, then its end. Called once, after the generation.
    ///
    /// @param usage counts and times of the generation
    /// @return why it ended
    ChatEnd end(Usage usage);
}
