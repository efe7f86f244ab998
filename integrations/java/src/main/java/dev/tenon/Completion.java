package dev.tenon;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.engine.Usage;

/// Continues a text.
///
/// @param model the model
/// @param text the text
record Completion(Model model, String text) implements Job {
    @Override
    public ChatReply generate(Run run, ChatEvents events) {
        ReplyParts parts = new ReplyParts(run, events, true);
        Usage usage = run.session()
                .generate(
                        run.settings().toBuilder()
                                .prompt(model.tokens(text))
                                .constraint(model.chatModel()
                                        .constraint(run.format())
                                        .orElse(null))
                                .build(),
                        parts::text);
        parts.ends(ChatEnd.of(usage.finish(), 0), usage);
        return parts.told();
    }
}
