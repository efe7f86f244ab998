package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Tokenizer;

/// Hands a reply to a parser, and what the parser finds to the events: with ids that the template takes, and of calls
/// only the first one where there may be one; what comes after it is not told.
final class ParsedReply implements ReplyReader {
    private final Tokenizer tokenizer;
    private final ReplyParser parser;
    private final ChatEvents events;
    private final Sink sink;

    /// @param before the prompt, whose end tells what the reply begins with
    ParsedReply(Tokenizer tokenizer, ModelTemplate template, String before, ChatRequest request, ChatEvents events) {
        this.tokenizer = tokenizer;
        this.events = events;
        this.sink = new Sink(template, request.severalCalls());
        this.parser = ReplyParser.of(template.format(), before, TemplateValues.tools(request.offeredTools()), sink);
    }

    @Override
    public void onToken(GeneratedToken token) {
        if (tokenizer.isControl(token.id()) && !tokenizer.isEndOfGeneration(token.id())) {
            parser.marker(tokenizer.piece(token.id()));
        }
    }

    @Override
    public void onText(String text) {
        parser.text(text);
    }

    @Override
    public ChatEnd end(Usage usage) {
        parser.finish();
        sink.settle();
        ChatEnd end = sink.isComplete() ? ChatEnd.CALLS : ChatEnd.of(usage.finish(), parser.calls());
        events.ends(end, usage);
        return end;
    }

    private final class Sink implements ReplySink {
        private static final int NONE = -1;

        private final ModelTemplate template;
        private final boolean several;
        /// The last call that was told and has not ended.
        private int open = NONE;
        /// The one call, where there may be no other.
        private int only = NONE;
        /// How many calls the parser had counted when the last one ended.
        private int counted;

        Sink(ModelTemplate template, boolean several) {
            this.template = template;
            this.several = several;
        }

        /// Tells that a call has ended, if it has.
        void settle() {
            if (open != NONE && parser.calls() > counted) {
                events.callEnds(open);
                open = NONE;
            }
            counted = parser.calls();
        }

        /// {@return whether the one call that there may be has ended}
        boolean isComplete() {
            return only != NONE && open == NONE;
        }

        @Override
        public void reasoning(String text) {
            settle();
            if (only == NONE) {
                events.reasoning(text);
            }
        }

        @Override
        public void content(String text) {
            settle();
            if (only == NONE) {
                events.text(text);
            }
        }

        @Override
        public void call(int index, String id, String name) {
            settle();
            if (only == NONE) {
                open = index;
                only = several ? NONE : index;
                events.callBegins(
                        index, template.ids().takes(id) ? id : template.ids().fresh(), name);
            }
        }

        @Override
        public void arguments(int index, String json) {
            if (open == index) {
                events.callArguments(index, json);
            }
        }

        @Override
        public void uncalled(int index) {
            if (open == index) {
                events.callDropped(index);
                open = NONE;
                only = only == index ? NONE : only;
            }
        }
    }
}
