package dev.tenon;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.chat.MediaPrompts;

/// Continues a text.
///
/// @param model the model
/// @param text the text
record Completion(Model model, String text) implements Job {
    @Override
    public ChatReply generate(Run run, ChatEvents events) {
        ReplyParts parts = new ReplyParts(run, events, true);
        MediaPrompts.Encoded prompt = model.prompt(text, run.media());
        Usage usage = run.session()
                .generate(
                        run.settings().toBuilder()
                                .prompt(prompt.tokens())
                                .media(prompt.media())
                                .constraint(model.chatModel()
                                        .constraint(run.format())
                                        .orElse(null))
                                .build(),
                        parts::text);
        parts.ends(ChatEnd.of(usage.finish(), 0), usage);
        return parts.told();
    }
}
