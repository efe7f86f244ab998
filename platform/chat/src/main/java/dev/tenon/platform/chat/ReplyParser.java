package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/// Splits a reply, while it is generated, into reasoning, answer and calls of tools. What is no call of a tool that was
/// offered stays text. For one thread.
public abstract class ReplyParser {
    private static final int ID_DIGITS = 24;

    final ToolSchemas tools;
    final ReplySink sink;
    private int calls;
    private int told;
    /// Whether the last thing that came is text that another text would be joined to.
    private boolean inText;
    /// Whether a control token that is no mark came after it.
    private boolean apart;

    ReplyParser(List<Map<String, Object>> tools, ReplySink sink) {
        this.tools = new ToolSchemas(tools);
        this.sink = sink;
    }

    /// Creates a parser.
    ///
    /// @param format how the model writes
    /// @param prompt the prompt, whose end tells what the reply begins with
    /// @param tools the tools; if there are none, no calls are looked for
    /// @param sink takes the parts
    /// @return the parser
    public static ReplyParser of(
            TemplateFormat format, String prompt, List<Map<String, Object>> tools, ReplySink sink) {
        return format.calls().shape() instanceof CallFormat.Channels
                ? new ChannelParser(prompt, tools, sink)
                : new MarkParser(format, prompt, tools, sink);
    }

    /// Takes text.
    ///
    /// @param text what the model wrote
    public final void text(String text) {
        if (text.isEmpty()) {
            return;
        }
        boolean glued = apart && inText && !Character.isWhitespace(text.charAt(0));
        apart = false;
        inText = !Character.isWhitespace(text.charAt(text.length() - 1));
        take(glued ? " " + text : text);
    }

    /// Takes a control token, which has no text. One that is no mark of the model's form is left out of texts, which it
    /// keeps apart, and spoils a call.
    ///
    /// @param piece its name in the vocabulary
    public final void marker(String piece) {
        if (!piece.isEmpty() && (isMark(piece) || inCall())) {
            inText = false;
            take(piece);
        } else {
            apart = true;
        }
    }

    /// Takes text, or a mark as text.
    abstract void take(String text);

    /// {@return whether a control token is, or begins, a mark}
    abstract boolean isMark(String piece);

    /// {@return whether what comes may belong to a call}
    abstract boolean inCall();

    /// Ends the reply: what was held back is handed on.
    public abstract void finish();

    /// {@return how many whole calls there were}
    public final int calls() {
        return calls;
    }

    final boolean hasTools() {
        return !tools.names().isEmpty();
    }

    /// Tells that a call begins.
    ///
    /// @return its index
    final int tell(String id, String name) {
        sink.call(told, id, name);
        return told++;
    }

    /// Counts a whole call.
    final void called() {
        calls++;
    }

    /// {@return an id for a call}
    static String newId() {
        return "call_" + UUID.randomUUID().toString().replace("-", "").substring(0, ID_DIGITS);
    }

    /// {@return how many characters at the end of a text are the beginning of a mark}
    static int partOf(String mark, CharSequence text) {
        for (int length = Math.min(mark.length() - 1, text.length()); length > 0; length--) {
            if (mark.startsWith(
                    text.subSequence(text.length() - length, text.length()).toString())) {
                return length;
            }
        }
        return 0;
    }
}
