package dev.tenon.api.chat;

import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.TokenConstraint;
import java.util.Arrays;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/// A model that chats, by the template of its file. Safe for any thread.
///
/// [#ask] and [#reply] do all of it. Who schedules generations by other means calls [#prompt],
/// [#constraint] and [#reader], generates, and ends the reader.
@ProviderType
public interface ChatModel {
    /// {@return the model}
    LoadedModel model();

    /// Writes a conversation as the model's template does. Control tokens in its texts are text.
    ///
    /// @param request the conversation
    /// @return the prompt, whose tokens are fewer than the context holds
    /// @throws ChatException if the request is refused; it says for what reasons
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the prompt does not fit
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-009`) if the template is broken or refuses
    ///     the conversation
    ChatPrompt prompt(ChatRequest request);

    /// Counts the tokens of a conversation, without running any.
    ///
    /// @param request the conversation
    /// @return how many tokens its prompt has
    /// @throws ChatException as [#prompt]
    default int count(ChatRequest request) {
        return prompt(request).tokens().length;
    }

    /// Makes what says which tokens a reply may have.
    ///
    /// @param request what it answers
    /// @param prompt the request's prompt
    /// @return the constraint for one generation; empty if the reply is free
    /// @throws ChatException if the format, or the schemas of tools that have to be called, cannot be enforced
    Optional<TokenConstraint> constraint(ChatRequest request, ChatPrompt prompt);

    /// Makes what says which tokens a text may have that is no chat.
    ///
    /// @param format what the text has to be
    /// @return the constraint for one generation; empty if it may be anything
    /// @throws ChatException if the format cannot be enforced
    Optional<TokenConstraint> constraint(TextFormat format);

    /// Makes a reader of a reply.
    ///
    /// @param request what it answers
    /// @param prompt the request's prompt
    /// @param events hears the reply
    /// @return the reader
    ReplyReader reader(ChatRequest request, ChatPrompt prompt, ChatEvents events);

    /// Generates a reply. Blocks. The session holds the conversation afterwards, with the reply: of the
    /// next request only what is new is run.
    ///
    /// @param session a session of the model; what it holds beyond the beginning that it shares with the
    ///     prompt is forgotten
    /// @param request what to answer
    /// @param settings how to generate; its prompt and constraint are those of the request
    /// @param events hears the reply, on this thread
    /// @return counts and times
    /// @throws ChatException if the request is refused
    /// @throws dev.tenon.api.error.TenonException as [Session#generate]
    default Usage reply(Session session, ChatRequest request, GenerationRequest settings, ChatEvents events) {
        ChatPrompt prompt = prompt(request);
        TokenConstraint rule = constraint(request, prompt).orElse(null);
        int[] tokens = prompt.tokens();
        int same = Arrays.mismatch(session.tokens(), tokens);
        int kept = Math.max(0, Math.min(same < 0 ? tokens.length : same, tokens.length - 1));
        session.truncate(kept);
        ReplyReader reader = reader(request, prompt, events);
        Usage usage = session.generate(
                settings.toBuilder()
                        .prompt(Arrays.copyOfRange(tokens, kept, tokens.length))
                        .media(prompt.media())
                        .constraint(rule)
                        .build(),
                reader);
        reader.end(usage);
        return usage;
    }

    /// Generates a reply in a session of its own, and collects it. Blocks.
    ///
    /// @param request what to answer
    /// @param settings how to generate; its prompt and constraint are those of the request
    /// @return the reply
    /// @throws ChatException if the request is refused
    /// @throws dev.tenon.api.error.TenonException as [Session#generate] and [LoadedModel#newSession]
    default ChatReply ask(ChatRequest request, GenerationRequest settings) {
        ChatReply.Collector collector = new ChatReply.Collector();
        try (Session session = model().newSession()) {
            reply(session, request, settings, collector);
        }
        return collector.reply();
    }

    /// Generates the reply to a message, with the default sampling and no limit but the context. Blocks.
    ///
    /// @param text the message
    /// @return the reply
    /// @throws ChatException if the request is refused
    default ChatReply ask(String text) {
        return ask(ChatRequest.of(text), GenerationRequest.builder().build());
    }
}
