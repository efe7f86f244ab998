package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.error.OneLine;
import dev.tenon.platform.cli.Console;

/// Writes a reply to standard output as it comes. On a terminal its reasoning stands before the answer, in grey where
/// there are colours; elsewhere the answer comes alone.
final class ReplyText implements ChatEvents {
    private final Console console;
    private final StyledText styled;
    private boolean reasoning;
    private boolean lineEnded;

    /// Begins a reply.
    ///
    /// @param console where it goes
    /// @param styled makes its text fit for the terminal; null: it is written as it comes
    ReplyText(Console console, StyledText styled) {
        this.console = console;
        this.styled = styled;
    }

    @Override
    public void text(String text) {
        if (reasoning) {
            reasoning = false;
            String between = lineEnded ? "\n" : "\n\n";
            write(styled == null ? between : styled.answer());
        }
        write(styled == null ? text : styled.next(OneLine.lines(text)));
    }

    @Override
    public void reasoning(String text) {
        String shown = reasoning ? text : text.stripLeading();
        if (shown.isEmpty() || !console.outIsTerminal()) {
            return;
        }
        if (!reasoning && styled != null) {
            write(styled.reasoning());
        }
        reasoning = true;
        lineEnded = shown.endsWith("\n");
        write(styled == null ? shown : styled.next(OneLine.lines(shown)));
    }

    /// Writes what was held back for the end of its word or mark.
    void finish() {
        if (styled != null) {
            write(styled.finish());
        }
    }

    private void write(String text) {
        // What is styled has no control characters but its own.
        (styled == null ? console.out() : console.styledOut()).print(text);
        console.out().flush();
    }
}
