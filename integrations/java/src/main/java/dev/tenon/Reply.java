package dev.tenon;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.ToolChoice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Replies to a request, which has all turns and tools. Calls are the caller's to answer.
///
/// @param model the model
/// @param request the request
record Reply(Model model, ChatRequest request) implements Job {
    @Override
    public ChatReply generate(Run run, ChatEvents events) {
        TextFormat format = run.format() instanceof TextFormat.Any ? request.format() : run.format();
        Map<String, @Nullable Object> variables = new HashMap<>(request.variables());
        variables.putAll(run.variables());
        ChatRequest free = request.toBuilder()
                .variables(variables)
                .format(TextFormat.any())
                .build();
        ChatRequest bound = free.toBuilder()
                .turns(told(request.turns(), format))
                .format(format)
                .build();
        if (format instanceof TextFormat.Any || request.toolChoice().mode() == ToolChoice.Mode.REQUIRED) {
            return ask(run, free, new ReplyParts(run, events, true)).told();
        }
        if (!request.offeredTools().isEmpty()) {
            ReplyParts parts = ask(run, free, new ReplyParts(run, events, false));
            ChatReply reply = parts.reply();
            if (!reply.calls().isEmpty() || reply.end() == ChatEnd.CANCELLED) {
                return parts.told();
            }
        }
        return ask(run, bound, new ReplyParts(run, events, true)).told();
    }

    private ReplyParts ask(Run run, ChatRequest what, ReplyParts parts) {
        model.chatModel().reply(run.session(), what, run.settings(), parts);
        return parts;
    }

    /// {@return turns of which the last one of the user says what the answer has to be: the constraint of a schema
    ///     alone tells the model nothing}
    ///
    /// @param turns the turns
    /// @param format what it has to be
    static List<ChatTurn> told(List<ChatTurn> turns, TextFormat format) {
        List<ChatTurn> told = new ArrayList<>(turns);
        if (format instanceof TextFormat.Schema schema) {
            for (int i = told.size() - 1; i >= 0; i--) {
                ChatTurn turn = told.get(i);
                if (turn.role().equals(ChatTurn.USER)) {
                    told.set(i, turn.withText(turn.text() + "\n\nAnswer with JSON of this schema:\n" + schema.json()));
                    break;
                }
            }
        }
        return told;
    }
}
