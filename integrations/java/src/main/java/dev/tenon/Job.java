package dev.tenon;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Session;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// What a request has generated.
sealed interface Job permits Completion, Answer, Reply {
    /// Generates. Blocks.
    ///
    /// @param run where and how
    /// @param events hears the reply; of its end once
    /// @return the reply
    ChatReply generate(Run run, ChatEvents events);

    /// Fills the session with what was computed before, if there is something.
    ///
    /// @param session an empty session
    default void restore(Session session) {}

    /// Where and how a request is generated.
    ///
    /// @param session an empty session, or one that [#restore] filled
    /// @param settings how; without prompt
    /// @param media pictures and sounds of the message or text
    /// @param format what the text has to be
    /// @param variables further variables of the template
    /// @param toolRounds how many replies may call tools
    /// @param isCancelled whether the request was cancelled, perhaps before the session generated
    record Run(
            Session session,
            GenerationRequest settings,
            List<MediaPart> media,
            TextFormat format,
            Map<String, @Nullable Object> variables,
            int toolRounds,
            BooleanSupplier isCancelled) {
        /// Cancels what the session generates, if the request was cancelled.
        void check() {
            if (isCancelled.getAsBoolean()) {
                session.cancel();
            }
        }
    }
}
