package dev.tenon.platform.server.chat;

import java.util.List;
import java.util.UUID;

/// Splits a reply, while it is generated, into reasoning, answer and calls of tools. For one thread.
public final class ReplyParser {
    private static final String THINK = "<think>";
    private static final String THOUGHT = "</think>";
    private static final String CALL = "<tool_call>";
    private static final String CALLED = "</tool_call>";
    private static final String CALLS = "[TOOL_CALLS]";
    private static final String ARGS = "[ARGS]";
    private static final String PYTHON = "<|python_tag|>";
    private static final int ID_DIGITS = 24;

    private final ReplyFormat format;
    private final boolean tools;
    private final ReplySink sink;
    private final StringBuilder pending = new StringBuilder();
    /// What comes after the reasoning.
    private final State begin;
    private State state;
    private CallReader call;
    private int calls;

    private enum State {
        /// Nothing but blanks has come.
        START,
        REASONING,
        /// Blanks before the answer.
        BEFORE_ANSWER,
        ANSWER,
        /// Inside the JSON object of a call.
        CALL,
        /// Between calls.
        AFTER_CALL,
        /// After `[TOOL_CALLS]`: a list, or a name.
        LIST
    }

    /// Creates a parser.
    ///
    /// @param format how the model writes
    /// @param prompt the prompt, whose end tells whether the reply begins with reasoning
    /// @param tools whether there are tools, so that calls are looked for
    /// @param enforced whether the reply can only be a call
    /// @param sink takes the parts
    public ReplyParser(ReplyFormat format, String prompt, boolean tools, boolean enforced, ReplySink sink) {
        this.format = format;
        this.tools = tools;
        this.sink = sink;
        // A grammar writes no control tokens, so the mark before a list of calls is missing.
        this.begin = enforced && format.calls() == ReplyFormat.Calls.LISTED ? State.LIST : State.BEFORE_ANSWER;
        this.state = thinks(prompt) ? State.REASONING : begin == State.LIST ? State.LIST : State.START;
    }

    /// {@return whether a reply begins inside its reasoning}
    ///
    /// @param prompt the prompt
    public static boolean thinks(String prompt) {
        return prompt.stripTrailing().endsWith(THINK);
    }

    /// {@return how many calls there were}
    public int calls() {
        return calls;
    }

    /// Takes text.
    ///
    /// @param text what the model wrote
    public void text(String text) {
        pending.append(text);
        run(false);
    }

    /// Takes a control token, which has no text.
    ///
    /// @param piece its name in the vocabulary
    public void marker(String piece) {
        if (piece.equals(THINK) || piece.equals(THOUGHT) || tools && isCallMark(piece)) {
            text(piece);
        }
    }

    private static boolean isCallMark(String piece) {
        return List.of(CALL, CALLED, CALLS, ARGS, PYTHON).contains(piece);
    }

    /// Ends the reply: what was held back is handed on.
    public void finish() {
        run(true);
    }

    private void run(boolean last) {
        boolean more = true;
        while (more && !pending.isEmpty()) {
            more = switch (state) {
                case START -> start(last);
                case REASONING -> reasoning(last);
                case BEFORE_ANSWER -> beforeAnswer(last);
                case ANSWER -> answer(last);
                case CALL -> call(last);
                case AFTER_CALL -> afterCall(last);
                case LIST -> list(last);
            };
        }
    }

    private boolean start(boolean last) {
        String text = pending.toString().stripLeading();
        if (!last && (text.isEmpty() || THINK.startsWith(text) && text.length() < THINK.length())) {
            return false;
        }
        if (text.startsWith(THINK)) {
            pending.setLength(0);
            pending.append(text, THINK.length(), text.length());
            state = State.REASONING;
        } else {
            state = beginsCall(text, last) ? State.BEFORE_ANSWER : State.ANSWER;
        }
        return true;
    }

    /// Whether a text begins, or may begin, with the mark of a call.
    private boolean beginsCall(String text, boolean last) {
        if (!tools || text.isEmpty()) {
            return false;
        }
        if (format.calls() == ReplyFormat.Calls.BARE) {
            return text.startsWith("{") || text.startsWith(PYTHON) || !last && PYTHON.startsWith(text);
        }
        String mark = format.calls() == ReplyFormat.Calls.LISTED ? CALLS : CALL;
        return text.startsWith(mark) || !last && mark.startsWith(text);
    }

    private boolean reasoning(boolean last) {
        int end = pending.indexOf(THOUGHT);
        if (end < 0) {
            flush(last, THOUGHT, true);
            return false;
        }
        String text = pending.substring(0, end);
        if (!text.isEmpty()) {
            sink.reasoning(text);
        }
        pending.delete(0, end + THOUGHT.length());
        state = begin;
        return true;
    }

    private boolean beforeAnswer(boolean last) {
        String text = pending.toString().stripLeading();
        pending.setLength(0);
        pending.append(text);
        if (text.isEmpty()) {
            return false;
        }
        if (tools && format.calls() == ReplyFormat.Calls.BARE) {
            if (!last && PYTHON.startsWith(text) && text.length() < PYTHON.length()) {
                return false;
            }
            if (text.startsWith(PYTHON)) {
                pending.delete(0, PYTHON.length());
                return true;
            }
            if (text.startsWith("{")) {
                beginCall();
                return true;
            }
        }
        state = State.ANSWER;
        return true;
    }

    private boolean answer(boolean last) {
        if (!tools || format.calls() == ReplyFormat.Calls.BARE) {
            flush(true, "", false);
            return false;
        }
        boolean listed = format.calls() == ReplyFormat.Calls.LISTED;
        String mark = listed ? CALLS : CALL;
        int begin = pending.indexOf(mark);
        if (begin < 0) {
            flush(last, mark, false);
            return false;
        }
        content(pending.substring(0, begin).stripTrailing());
        pending.delete(0, begin + mark.length());
        state = listed ? State.LIST : State.AFTER_CALL;
        return true;
    }

    private void content(String text) {
        if (!text.isEmpty()) {
            sink.content(text);
        }
    }

    /// Hands on what is pending, but for an end that may become a mark.
    private void flush(boolean last, String mark, boolean reasoning) {
        int keep = last ? 0 : partOf(mark);
        String text = pending.substring(0, pending.length() - keep);
        pending.delete(0, text.length());
        if (reasoning && !text.isEmpty()) {
            sink.reasoning(text);
        } else if (!reasoning) {
            content(text);
        }
    }

    /// {@return how many characters at the end of what is pending are the beginning of a mark, with blanks before it}
    private int partOf(String mark) {
        int end = pending.length();
        for (int length = Math.min(mark.length() - 1, end); length > 0; length--) {
            if (mark.startsWith(pending.substring(end - length))) {
                end -= length;
                break;
            }
        }
        return pending.length() - pending.substring(0, end).stripTrailing().length();
    }

    private void beginCall() {
        call = new CallReader(sink, calls, newId(), null);
        state = State.CALL;
    }

    private static String newId() {
        return "call_" + UUID.randomUUID().toString().replace("-", "").substring(0, ID_DIGITS);
    }

    private boolean call(boolean last) {
        int taken = call.take(pending.toString(), 0);
        pending.delete(0, taken);
        if (!call.ended() && !last) {
            return false;
        }
        if (call.told()) {
            calls++;
        } else {
            content(call.raw()); // JSON that is no call
        }
        state = State.AFTER_CALL;
        return true;
    }

    private boolean afterCall(boolean last) {
        String text = pending.toString().stripLeading();
        pending.setLength(0);
        pending.append(text);
        String next = text.startsWith(CALLED) ? CALLED : text.startsWith(CALL) ? CALL : null;
        if (next != null || text.startsWith(",") || text.startsWith(";") || text.startsWith("]")) {
            pending.delete(0, next == null ? 1 : next.length());
            return true;
        }
        if (text.startsWith(CALLS)) {
            pending.delete(0, CALLS.length());
            state = State.LIST;
            return true;
        }
        if (text.startsWith("{")) {
            beginCall();
            return true;
        }
        boolean part = CALLED.startsWith(text) || CALL.startsWith(text) || CALLS.startsWith(text);
        if (text.isEmpty() || part && !last) {
            return false;
        }
        state = State.ANSWER;
        return true;
    }

    private boolean list(boolean last) {
        String text = pending.toString().stripLeading();
        pending.setLength(0);
        pending.append(text);
        if (text.startsWith("[")) {
            pending.deleteCharAt(0);
            state = State.AFTER_CALL;
            return true;
        }
        int end = pending.indexOf(ARGS);
        int brace = pending.indexOf("{");
        if (end < 0 && brace < 0) {
            if (last) {
                content(text);
                pending.setLength(0);
            }
            return false;
        }
        int nameEnd = end >= 0 ? end : brace;
        String name = pending.substring(0, nameEnd).strip();
        pending.delete(0, end >= 0 ? end + ARGS.length() : brace);
        call = new CallReader(sink, calls, newId(), name);
        state = State.CALL;
        return true;
    }
}
