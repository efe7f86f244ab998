package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;

/// Forwards an answer and records its tokens, and its text with control tokens written out.
final class Recorder implements GenerationListener {
    private final Tokenizer tokenizer;
    private final StreamDecoder decoder;
    private final GenerationListener next;
    private final List<Integer> tokens = new ArrayList<>();
    private final StringBuilder written = new StringBuilder();
    private final StringBuilder shown = new StringBuilder();

    Recorder(Tokenizer tokenizer, GenerationListener next) {
        this.tokenizer = tokenizer;
        this.decoder = tokenizer.decoder();
        this.next = next;
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
    }

    @Override
    public void onText(String text) {
        shown.append(text);
        next.onText(text);
    }

    @Override
    public void onPrefill(int done, int total) {
        next.onPrefill(done, total);
    }

    @Override
    public void onMoved(String reason) {
        next.onMoved(reason);
    }

    /// {@return the tokens so far}
    int[] tokens() {
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    /// {@return the text so far, with control tokens}
    String written() {
        return written.toString();
    }

    /// {@return the text so far, as people see it}
    String shown() {
        return shown.toString();
    }

    /// {@return whether the text ends with a whole character}
    boolean endedWhole() {
        return decoder.finish().isEmpty();
    }
}
