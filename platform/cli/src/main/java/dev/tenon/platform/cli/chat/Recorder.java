package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// Has an answer read and forwards it, and records its tokens, and its text with control tokens written out.
final class Recorder implements GenerationListener {
    private final Tokenizer tokenizer;
    private final StreamDecoder decoder;
    private final GenerationListener next;
    private final ChatEvents events;
    private final ChatReply.Collector collector = new ChatReply.Collector();
    private final List<Integer> tokens = new ArrayList<>();
    private final StringBuilder written = new StringBuilder();
    private ReplyReader reader;

    /// Begins an answer.
    ///
    /// @param tokenizer the model's
    /// @param next hears the generation, but for the text
    /// @param events hears the answer's text and reasoning
    Recorder(Tokenizer tokenizer, GenerationListener next, ChatEvents events) {
        this.tokenizer = tokenizer;
        this.decoder = tokenizer.decoder();
        this.next = next;
        this.events = events;
    }

    /// Says who reads the answer; whoever is named first reads all of it.
    ///
    /// @param maker makes the reader, which tells what it is given
    void readBy(Function<ChatEvents, ReplyReader> maker) {
        if (reader == null) {
            reader = maker.apply(new ChatEvents() {
                @Override
                public void text(String text) {
                    collector.text(text);
                    events.text(text);
                }

                @Override
                public void reasoning(String text) {
                    collector.reasoning(text);
                    events.reasoning(text);
                }
            });
        }
    }

    @Override
    public void onToken(GeneratedToken token) {
        int id = token.id();
        tokens.add(id);
        if (tokenizer.isControl(id)) {
            written.append(decoder.finish()).append(tokenizer.piece(id));
        } else {
            written.append(decoder.next(id));
        }
        next.onToken(token);
        reader.onToken(token);
    }

    @Override
    public void onText(String text) {
        reader.onText(text);
    }

    @Override
    public void onPrefill(int done, int total) {
        next.onPrefill(done, total);
    }

    @Override
    public void onMoved(String reason) {
        next.onMoved(reason);
    }

    /// Ends the answer.
    ///
    /// @param usage counts and times of all of it
    /// @return the answer
    ChatReply end(Usage usage) {
        reader.end(usage);
        return collector.reply();
    }

    /// {@return the tokens so far}
    int[] tokens() {
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    /// {@return the text so far, with control tokens}
    String written() {
        return written.toString();
    }

    /// {@return whether the text ends with a whole character}
    boolean endedWhole() {
        return decoder.finish().isEmpty();
    }
}
