package dev.tenon;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;

/// Answers a message of a conversation, and calls tools meanwhile.
///
/// @param chat the conversation; has the message and what follows once the answer is there
/// @param message the message
/// @param tools what the model may call
record Answer(Chat chat, String message, MethodTools tools) implements Job {
    @Override
    public ChatReply generate(Run run, ChatEvents events) {
        List<ChatTurn> turns = new ArrayList<>(chat.turns());
        turns.add(new ChatTurn(ChatTurn.USER, message, null, List.of(), null, null, run.media()));
        boolean free = run.format() instanceof TextFormat.Any;
        if (!tools.isEmpty()) {
            ReplyParts parts = callTools(run, turns, free, events);
            if (free || parts.reply().end() != ChatEnd.STOP) {
                return end(parts, turns);
            }
        }
        ReplyParts parts = new ReplyParts(run, events, true);
        ask(run, ChatRequest.builder().turns(Reply.told(turns, run.format())).format(run.format()), parts);
        return end(parts, turns);
    }

    @Override
    public void restore(Session session) {
        chat.restore(session);
    }

    /// Asks until the model calls nothing more.
    ///
    /// @param turns the conversation, which the calls and their results are added to
    /// @return the reply that calls nothing
    private ReplyParts callTools(Run run, List<ChatTurn> turns, boolean tellsText, ChatEvents events) {
        for (int round = 0; round <= run.toolRounds(); round++) {
            ReplyParts parts = new ReplyParts(run, events, tellsText);
            ask(run, ChatRequest.builder().turns(turns).tools(tools.declared()), parts);
            ChatReply reply = parts.reply();
            if (reply.end() != ChatEnd.CALLS) {
                return parts;
            }
            turns.add(reply.turn());
            reply.calls().forEach(call -> turns.add(tools.result(call)));
        }
        throw new TenonException(
                JavaErrors.TOOL_ROUNDS,
                "The model called tools in " + (run.toolRounds() + 1)
                        + " replies one after the other; expected at most " + run.toolRounds()
                        + ". Raise toolRounds, or offer fewer tools.");
    }

    private void ask(Run run, ChatRequest.Builder request, ReplyParts parts) {
        chat.model()
                .chatModel()
                .reply(run.session(), request.variables(run.variables()).build(), run.settings(), parts);
    }

    private ChatReply end(ReplyParts parts, List<ChatTurn> turns) {
        ChatReply reply = parts.told();
        if (reply.end() != ChatEnd.CANCELLED) {
            turns.add(reply.turn());
            chat.turns(turns);
        }
        return reply;
    }
}
