package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;

/// Prints an answer as it comes.
final class AnswerPrinter implements GenerationListener, AutoCloseable {
    private final Console console;
    private final LoadedModel model;
    private final Session session;
    private final Console.Interrupt interrupt;
    private final Progress bar;
    private int heard;

    AnswerPrinter(Console console, LoadedModel model, Session session, Console.Interrupt interrupt) {
        this.console = console;
        this.model = model;
        this.session = session;
        this.interrupt = interrupt;
        bar = console.progress("prompt", -1, "tokens");
    }

    /// {@return how many tokens came, without one that ends the text}
    int heard() {
        return heard;
    }

    @Override
    public void onToken(GeneratedToken token) {
        heard += model.tokenizer().isEndOfGeneration(token.id()) ? 0 : 1;
    }

    @Override
    public void onText(String text) {
        bar.close();
        console.out().print(text);
        console.out().flush();
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
    }
}
