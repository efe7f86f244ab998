package dev.tenon;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;

/// Collects a reply, and tells another what comes, but for its end: another reply may follow.
final class ReplyParts extends ChatReply.Collector {
    private final Job.Run run;
    private final ChatEvents events;
    private final boolean tellsText;

    /// @param run what generates it
    /// @param events hears the reply
    /// @param tellsText whether it hears the text
    ReplyParts(Job.Run run, ChatEvents events, boolean tellsText) {
        this.run = run;
        this.events = events;
        this.tellsText = tellsText;
    }

    /// Tells the end.
    ///
    /// @return the reply
    ChatReply told() {
        ChatReply reply = reply();
        events.ends(reply.end(), reply.usage());
        return reply;
    }

    @Override
    public void text(String text) {
        run.check();
        super.text(text);
        if (tellsText) {
            events.text(text);
        }
    }

    @Override
    public void reasoning(String text) {
        run.check();
        super.reasoning(text);
        events.reasoning(text);
    }

    @Override
    public void callBegins(int index, String id, String name) {
        super.callBegins(index, id, name);
        events.callBegins(index, id, name);
    }

    @Override
    public void callArguments(int index, String json) {
        run.check();
        super.callArguments(index, json);
        events.callArguments(index, json);
    }

    @Override
    public void callEnds(int index) {
        super.callEnds(index);
        events.callEnds(index);
    }

    @Override
    public void callDropped(int index) {
        super.callDropped(index);
        events.callDropped(index);
    }
}
