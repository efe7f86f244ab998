package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import java.time.Instant;

/// Prints the text of `run` as it comes. For the thread that generates.
final class RunOutput implements GenerationListener, ChatEvents, AutoCloseable {
    private final Console console;
    private final LoadedModel loaded;
    private final Session session;
    private final Console.Interrupt interrupt;
    private final boolean ignoreEos;
    private final ReplyText reply;
    private String before;
    private ReplyReader reader;
    private final Progress bar;
    private Instant firstToken;
    private int heard;

    /// @param console takes the text
    /// @param loaded generates
    /// @param session is cancelled when nobody reads any more
    /// @param interrupt whether it was asked to end
    /// @param ignoreEos whether end-of-text tokens count as others do
    /// @param wrapped ends lines between words; null where they end as they come
    /// @param before shown before the first token, after the progress bar; or empty
    RunOutput(
            Console console,
            LoadedModel loaded,
            Session session,
            Console.Interrupt interrupt,
            boolean ignoreEos,
            StyledText wrapped,
            String before) {
        this.before = before;
        this.reply = new ReplyText(console, wrapped);
        this.console = console;
        this.loaded = loaded;
        this.session = session;
        this.interrupt = interrupt;
        this.ignoreEos = ignoreEos;
        this.bar = console.progress("prompt", -1, "tokens");
    }

    /// {@return when the first token came, or null}
    Instant firstToken() {
        return firstToken;
    }

    /// {@return how many tokens of the text came}
    int heard() {
        return heard;
    }

    /// Says who tells the reply's text from its reasoning; otherwise all of it is text.
    void readBy(ReplyReader reader) {
        this.reader = reader;
    }

    /// Ends the text.
    ///
    /// @param usage counts and times
    void end(Usage usage) {
        if (reader != null) {
            reader.end(usage);
        }
    }

    @Override
    public void onToken(GeneratedToken token) {
        heard += !ignoreEos && loaded.tokenizer().isEndOfGeneration(token.id()) ? 0 : 1;
        if (firstToken == null) {
            firstToken = Instant.now();
            bar.close();
            showBefore();
        }
        if (reader != null) {
            reader.onToken(token);
        }
    }

    private void showBefore() {
        String text = before;
        before = "";
        reply.text(text);
    }

    @Override
    public void onText(String text) {
        if (reader == null) {
            text(text);
        } else {
            reader.onText(text);
        }
        if (console.out().checkError()) {
            session.cancel();
        }
    }

    @Override
    public void text(String text) {
        reply.text(text);
    }

    @Override
    public void reasoning(String text) {
        reply.reasoning(text);
    }

    @Override
    public void onPrefill(int done, int total) {
        if (interrupt.happened()) {
            session.cancel(); // it came before there was anything to cancel
        }
        bar.to(done, total);
    }

    @Override
    public void onMoved(String reason) {
        console.note(reason);
    }

    @Override
    public void close() {
        bar.close();
        showBefore();
        reply.finish();
    }
}
