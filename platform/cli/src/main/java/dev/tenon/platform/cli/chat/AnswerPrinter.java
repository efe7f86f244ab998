package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;

/// Says on the terminal how far an answer is, and prints it as it comes; on a terminal with colours as [StyledText].
final class AnswerPrinter implements GenerationListener, ChatEvents, AutoCloseable {
    private final Console console;
    private final LoadedModel model;
    private final Session session;
    private final Console.Interrupt interrupt;
    private final Progress bar;
    private final ReplyText reply;
    private int heard;

    /// Begins an answer.
    ///
    /// @param console where it goes
    /// @param model what answers
    /// @param session what is cancelled at Ctrl-C
    /// @param interrupt tells of Ctrl-C
    /// @param width columns of the terminal; 0 where there is none
    AnswerPrinter(Console console, LoadedModel model, Session session, Console.Interrupt interrupt, int width) {
        this.console = console;
        this.model = model;
        this.session = session;
        this.interrupt = interrupt;
        reply = new ReplyText(console, width > 0 && console.outHasColor() ? new StyledText(width) : null);
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

    /// What nobody reads is text.
    @Override
    public void onText(String text) {
        text(text);
    }

    @Override
    public void text(String text) {
        bar.close();
        reply.text(text);
    }

    @Override
    public void reasoning(String text) {
        bar.close();
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
        reply.finish();
    }
}
