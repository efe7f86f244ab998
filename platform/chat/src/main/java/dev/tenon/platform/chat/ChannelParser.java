package dev.tenon.platform.chat;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Splits replies in the form of Harmony: messages with a header, which says by its channel what they are. Reasoning is
/// in `analysis`, a call has a recipient, all else is answer.
final class ChannelParser extends ReplyParser {
    private static final String START = "<|start|>";
    private static final String MESSAGE = "<|message|>";
    private static final List<String> ENDS = List.of("<|end|>", START, "<|channel|>", "<|call|>", "<|return|>");
    private static final List<String> MARKS =
            List.of("<|end|>", START, "<|channel|>", "<|call|>", "<|return|>", MESSAGE, "<|constrain|>");
    private static final Pattern RECIPIENT = Pattern.compile("to=(?:functions\\.)?([A-Za-z0-9_.-]+)");

    private final boolean tools;
    private final ReplySink sink;
    private final StringBuilder pending = new StringBuilder();
    private Kind kind = Kind.HEADER;
    private final StringBuilder arguments = new StringBuilder();

    private enum Kind {
        HEADER,
        REASONING,
        ANSWER,
        CALL
    }

    /// @param prompt the prompt: if its last message is open, the reply goes on with it
    ChannelParser(String prompt, boolean tools, ReplySink sink) {
        this.tools = tools;
        this.sink = sink;
        String open = prompt.substring(Math.max(0, prompt.lastIndexOf(START)));
        if (open.contains(MESSAGE) && !open.contains("<|end|>")) {
            begin(open.substring(0, open.indexOf(MESSAGE)));
        }
    }

    @Override
    public void text(String text) {
        pending.append(text);
        run(false);
    }

    @Override
    public void marker(String piece) {
        if (MARKS.contains(piece)) {
            text(piece);
        }
    }

    @Override
    public void finish() {
        run(true);
        endCall(false);
    }

    private void run(boolean last) {
        boolean more = true;
        while (more && !pending.isEmpty()) {
            more = kind == Kind.HEADER ? header(last) : body(last);
        }
    }

    private boolean header(boolean last) {
        int end = pending.indexOf(MESSAGE);
        if (end < 0 && (!last || isHeader(pending.toString()))) {
            return false;
        }
        begin(end < 0 ? "" : pending.substring(0, end)); // a reply without headers is an answer
        pending.delete(0, end < 0 ? 0 : end + MESSAGE.length());
        return true;
    }

    private static boolean isHeader(String text) {
        return MARKS.stream().anyMatch(text::contains);
    }

    private void begin(String header) {
        Matcher recipient = RECIPIENT.matcher(header);
        if (recipient.find() && tools) {
            kind = Kind.CALL;
            arguments.setLength(0);
            sink.call(calls(), newId(), recipient.group(1));
        } else {
            kind = header.contains("<|channel|>analysis") ? Kind.REASONING : Kind.ANSWER;
        }
    }

    private boolean body(boolean last) {
        int end = -1;
        int held = 0;
        for (String mark : ENDS) {
            int at = pending.indexOf(mark);
            end = at >= 0 && (end < 0 || at < end) ? at : end;
            held = Math.max(held, last ? 0 : partOf(mark, pending));
        }
        int upTo = end >= 0 ? end : pending.length() - held;
        hand(pending.substring(0, upTo));
        pending.delete(0, upTo);
        if (end >= 0) {
            endCall(true);
            kind = Kind.HEADER;
            for (String mark : List.of("<|end|>", "<|call|>", "<|return|>")) {
                if (pending.indexOf(mark) == 0) {
                    pending.delete(0, mark.length());
                }
            }
        }
        return end >= 0;
    }

    private void hand(String text) {
        if (text.isEmpty()) {
            return;
        }
        switch (kind) {
            case REASONING -> sink.reasoning(text);
            case CALL -> {
                arguments.append(text);
                sink.arguments(calls(), text);
            }
            default -> sink.content(text);
        }
    }

    /// @param marked whether the model ended it by a mark; the last one may have been cut
    private void endCall(boolean marked) {
        if (kind == Kind.CALL) {
            if (arguments.isEmpty()) {
                sink.arguments(calls(), "{}");
            }
            if (marked || arguments.isEmpty() || Json.isWhole(arguments.toString())) {
                called();
            }
            kind = Kind.HEADER;
        }
    }
}
