package dev.tenon.platform.chat;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/// Splits a reply, while it is generated, into reasoning, answer and calls of tools. For one thread.
public abstract class ReplyParser {
    private static final int ID_DIGITS = 24;

    private int calls;

    ReplyParser() {}

    /// Creates a parser.
    ///
    /// @param format how the model writes
    /// @param prompt the prompt, whose end tells what the reply begins with
    /// @param tools the tools; if there are none, no calls are looked for
    /// @param sink takes the parts
    /// @return the parser
    public static ReplyParser of(ReplyFormat format, String prompt, List<Map<String, Object>> tools, ReplySink sink) {
        return format.calls() == CallFormat.CHANNELS
                ? new ChannelParser(prompt, !tools.isEmpty(), sink)
                : new MarkParser(format, prompt, tools, sink);
    }

    /// Takes text.
    ///
    /// @param text what the model wrote
    public abstract void text(String text);

    /// Takes a control token, which has no text.
    ///
    /// @param piece its name in the vocabulary
    public abstract void marker(String piece);

    /// Ends the reply: what was held back is handed on.
    public abstract void finish();

    /// {@return how many calls there were}
    public final int calls() {
        return calls;
    }

    /// Counts a call.
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
