package dev.tenon.platform.chat;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Splits replies in the form of Harmony: messages with a header, which says by its channel what they are. Reasoning is
/// in `analysis`, a call has a recipient that is a tool, all else is answer.
final class ChannelParser extends ReplyParser {
    private static final String START = "<|start|>";
    private static final String MESSAGE = "<|message|>";
    /// What ends a message, the first three for itself.
    private static final List<String> ENDS = List.of("<|end|>", "<|call|>", "<|return|>", START, "<|channel|>");
    private static final List<String> MARKS =
            List.of("<|end|>", START, "<|channel|>", "<|call|>", "<|return|>", MESSAGE, "<|constrain|>");
    private static final Pattern RECIPIENT = Pattern.compile("to=([A-Za-z0-9_.-]+)");
    private static final int OWN_ENDS = 3;

    private final StringBuilder pending = new StringBuilder();
    private Kind kind = Kind.HEADER;
    /// The call that is read: its text, its body, what was handed on, its index.
    private CallReader call;

    private final StringBuilder raw = new StringBuilder();
    private final StringBuilder body = new StringBuilder();
    private final StringBuilder handed = new StringBuilder();
    private int index;

    private enum Kind {
        HEADER,
        REASONING,
        ANSWER,
        CALL
    }

    /// @param prompt the prompt: if its last message is open, the reply goes on with it
    ChannelParser(String prompt, List<Map<String, Object>> tools, ReplySink sink) {
        super(tools, sink);
        String open = prompt.substring(Math.max(0, prompt.lastIndexOf(START)));
        if (open.contains(MESSAGE) && !open.contains("<|end|>")) {
            begin(open.substring(0, open.indexOf(MESSAGE)), "");
        }
    }

    @Override
    void take(String text) {
        pending.append(text);
        run(false);
    }

    @Override
    boolean isMark(String piece) {
        return MARKS.contains(piece);
    }

    @Override
    boolean inCall() {
        return kind == Kind.CALL;
    }

    @Override
    public void finish() {
        run(true);
        if (kind == Kind.CALL) {
            endCall();
        } else if (kind == Kind.HEADER && !pending.isEmpty()) {
            sink.written(pending.toString());
        }
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
        int length = end < 0 ? 0 : end + MESSAGE.length(); // a reply without headers is an answer
        begin(pending.substring(0, Math.max(0, end)), pending.substring(0, length));
        pending.delete(0, length);
        return true;
    }

    private static boolean isHeader(String text) {
        return MARKS.stream().anyMatch(text::contains);
    }

    /// @param header the header
    /// @param written what the model wrote of it
    private void begin(String header, String written) {
        Matcher recipient = RECIPIENT.matcher(header);
        boolean addressed = hasTools() && recipient.find();
        String tool = addressed ? tools.offered(recipient.group(1)) : null;
        kind = header.contains("<|channel|>analysis") ? Kind.REASONING : Kind.ANSWER;
        if (tool != null) {
            kind = Kind.CALL;
            call = new ArgumentsReader(tool, List.of());
            index = -1;
            raw.setLength(0);
            raw.append(written);
            body.setLength(0);
            handed.setLength(0);
        } else if (addressed) {
            hand(written); // to nobody who is there
        } else if (!written.isEmpty()) {
            sink.written(written);
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
        if (end < 0) {
            return false;
        }
        String mark = ENDS.subList(0, OWN_ENDS).stream()
                .filter(each -> pending.indexOf(each) == 0)
                .findFirst()
                .orElse("");
        pending.delete(0, mark.length());
        if (kind == Kind.CALL) {
            raw.append(mark);
            endCall();
        } else if (!mark.isEmpty()) {
            sink.written(mark);
        }
        kind = Kind.HEADER;
        return true;
    }

    private void hand(String text) {
        if (text.isEmpty()) {
            return;
        }
        switch (kind) {
            case REASONING -> sink.reasoning(text);
            case CALL -> {
                raw.append(text);
                body.append(text);
                read(false);
            }
            default -> sink.content(text);
        }
    }

    private void read(boolean last) {
        if (!call.ended() && !call.failed()) {
            body.delete(0, call.take(body, last));
        }
        if (call.begun()) {
            tell();
        }
    }

    private void tell() {
        if (index < 0) {
            index = tell(newId(), call.name());
        }
        if (!call.arguments.isEmpty()) {
            sink.arguments(index, call.arguments.toString());
            handed.append(call.arguments);
            call.arguments.setLength(0);
        }
    }

    private void endCall() {
        read(true);
        if (call.ended() && body.toString().isBlank() && Json.object(handed.toString()) != null) {
            called();
            sink.written(raw.toString());
            return;
        }
        if (index >= 0) {
            sink.uncalled(index);
        }
        sink.content(raw.toString());
    }
}
