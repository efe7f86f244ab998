package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.OneLine;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import java.time.Instant;

/// Prints the text of `run` as it comes. For the thread that generates.
final class RunOutput implements GenerationListener, AutoCloseable {
    private final Console console;
    private final LoadedModel loaded;
    private final Session session;
    private final Console.Interrupt interrupt;
    private final boolean ignoreEos;
    private final StyledText wrapped;
    private String before;
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
        this.wrapped = wrapped;
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

    @Override
    public void onToken(GeneratedToken token) {
        heard += !ignoreEos && loaded.tokenizer().isEndOfGeneration(token.id()) ? 0 : 1;
        if (firstToken == null) {
            firstToken = Instant.now();
            bar.close();
            showBefore();
        }
    }

    private void showBefore() {
        String text = before;
        before = "";
        print(text);
    }

    private void print(String text) {
        console.out().print(wrapped == null ? text : wrapped.next(OneLine.lines(text)));
        console.out().flush();
    }

    @Override
    public void onText(String text) {
        print(text);
        if (console.out().checkError()) {
            session.cancel();
        }
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
        if (wrapped != null) {
            console.out().print(wrapped.finish());
        }
    }
}
