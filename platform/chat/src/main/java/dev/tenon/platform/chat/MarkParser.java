package dev.tenon.platform.chat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Splits replies in which marks stand around reasoning and calls.
final class MarkParser extends ReplyParser {
    /// How calls begin without a mark.
    private static final Pattern OBJECT = Pattern.compile("\\{");
    private static final Pattern PYTHON = Pattern.compile("\\[\\s*[\\w.-]+\\(\\s*(?:\\)|[A-Za-z_]\\w*\\s*=)");
    private static final Pattern NUMBERED = Pattern.compile("(?:functions\\.)?(.+):\\d+");

    private final CallFormat calls;
    private final Pattern callHeader;
    private final Set<String> ids = new HashSet<>();
    private final String think;
    private final String thought;
    private final boolean tools;
    private final ToolSchemas schemas;
    private final ReplySink sink;
    private final StringBuilder pending = new StringBuilder();
    private State state;
    private CallReader call;

    private enum State {
        /// Nothing but blanks has come.
        START,
        REASONING,
        /// Blanks before the answer.
        BEFORE_ANSWER,
        ANSWER,
        /// Before, between and after calls.
        CALLS,
        /// The name of a tool before its arguments.
        NAME,
        /// Inside a call.
        CALL
    }

    MarkParser(ReplyFormat format, String prompt, List<Map<String, Object>> tools, ReplySink sink) {
        this.calls = format.calls();
        this.callHeader = calls.literals() == null ? null : calls.literals().header();
        this.think = format.think();
        this.thought = format.thought();
        this.tools = !tools.isEmpty();
        this.schemas = new ToolSchemas(tools);
        this.sink = sink;
        this.state = format.thinks(prompt) ? State.REASONING : State.START;
    }

    @Override
    public void text(String text) {
        pending.append(text);
        run(false);
    }

    @Override
    public void marker(String piece) {
        if (think.startsWith(piece) && !piece.isEmpty()
                || piece.equals(thought)
                || tools && calls.marks().contains(piece)) {
            text(piece);
        }
    }

    @Override
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
                case CALLS -> calls(last);
                case NAME -> name(last);
                case CALL -> call(last);
            };
        }
        if (last && state == State.CALL) {
            call(true);
        }
    }

    /// Takes away the blanks before a text.
    ///
    /// @return the text
    private String stripped() {
        String text = pending.toString().stripLeading();
        pending.delete(0, pending.length() - text.length());
        return text;
    }

    private boolean start(boolean last) {
        String text = pending.toString().stripLeading();
        if (!last && (text.isEmpty() || think.startsWith(text) && text.length() < think.length())) {
            return false;
        }
        if (text.startsWith(think)) {
            pending.setLength(0);
            pending.append(text, think.length(), text.length());
            state = State.REASONING;
        } else {
            state = beginsCall(text, last) ? State.BEFORE_ANSWER : State.ANSWER;
        }
        return true;
    }

    /// Whether a text begins, or may begin, with the mark of a call.
    private boolean beginsCall(String text, boolean last) {
        String mark = calls.marks().getFirst();
        return tools
                && !text.isEmpty()
                && (text.startsWith(mark)
                        || !last && mark.startsWith(text)
                        || calls.bare() && beginsBare(text, last) != Begins.NOT);
    }

    private enum Begins {
        YES,
        NOT,
        /// What comes next tells.
        PERHAPS
    }

    /// Whether a text begins calls without a mark.
    private Begins beginsBare(String text, boolean last) {
        Matcher matcher = (calls == CallFormat.BARE ? OBJECT : PYTHON).matcher(text);
        if (matcher.lookingAt()) {
            return Begins.YES;
        }
        return matcher.hitEnd() && !last ? Begins.PERHAPS : Begins.NOT;
    }

    private boolean reasoning(boolean last) {
        int end = pending.indexOf(thought);
        if (end < 0) {
            flush(last, thought, true);
            return false;
        }
        String text = pending.substring(0, end);
        if (!text.isEmpty()) {
            sink.reasoning(text);
        }
        pending.delete(0, end + thought.length());
        state = State.BEFORE_ANSWER;
        return true;
    }

    private boolean beforeAnswer(boolean last) {
        String text = stripped();
        if (text.isEmpty()) {
            return false;
        }
        if (tools && calls.bare()) {
            String mark = calls.marks().getFirst();
            Begins begins = beginsBare(text, last);
            if (begins == Begins.PERHAPS || !last && mark.startsWith(text) && text.length() < mark.length()) {
                return false;
            }
            if (text.startsWith(mark) || begins == Begins.YES) {
                state = State.CALLS;
                return true;
            }
        }
        state = State.ANSWER;
        return true;
    }

    private boolean answer(boolean last) {
        if (!tools || calls.bare()) {
            flush(true, "", false);
            return false;
        }
        String mark = calls.marks().getFirst();
        int begin = pending.indexOf(mark);
        if (begin < 0) {
            flush(last, mark, false);
            return false;
        }
        content(pending.substring(0, begin).stripTrailing());
        pending.delete(0, begin);
        state = State.CALLS;
        return true;
    }

    private void content(String text) {
        if (!text.isEmpty()) {
            sink.content(text);
        }
    }

    /// Hands on what is pending, but for an end that may become a mark.
    private void flush(boolean last, String mark, boolean reasoning) {
        int end = last ? pending.length() : pending.length() - partOf(mark, pending);
        if (!last) {
            end = pending.substring(0, end).stripTrailing().length();
        }
        String text = pending.substring(0, end);
        pending.delete(0, end);
        if (reasoning && !text.isEmpty()) {
            sink.reasoning(text);
        } else if (!reasoning) {
            content(text);
        }
    }

    private boolean calls(boolean last) {
        String text = stripped();
        boolean part = text.isEmpty();
        for (String mark : calls.marks()) {
            if (text.startsWith(mark)) {
                pending.delete(0, mark.length());
                return true;
            }
            part |= !last && mark.startsWith(text);
        }
        String open = calls.parameters() == null ? "" : calls.parameters().open();
        if (part || !last && !open.isEmpty() && open.startsWith(text) && text.length() < open.length()) {
            return false;
        }
        char first = text.charAt(0);
        if (",;[]".indexOf(first) >= 0) {
            pending.deleteCharAt(0);
        } else if (first == '{') {
            begin(new ObjectReader(sink, calls(), newId(), null));
        } else if (callHeader != null) {
            return literals(text, last);
        } else if (calls.shape() == CallFormat.Shape.PARAMETERS && isOpen(open, text)) {
            begin(new ParameterReader(calls.parameters(), schemas, sink, calls(), newId()));
        } else {
            boolean named = calls.shape() == CallFormat.Shape.NAME && ParameterReader.isName(first);
            state = named ? State.NAME : State.ANSWER;
        }
        return true;
    }

    /// Begins a call whose arguments are names and values, if the text does.
    private boolean literals(String text, boolean last) {
        Matcher matcher = callHeader.matcher(text);
        if (matcher.lookingAt()) {
            pending.delete(0, matcher.end());
            begin(new LiteralReader(calls.literals(), sink, calls(), newId(), matcher.group(1)));
            return true;
        }
        if (matcher.hitEnd() && !last) {
            return false;
        }
        state = State.ANSWER;
        return true;
    }

    private static boolean isOpen(String open, String text) {
        return open.isEmpty() ? ParameterReader.isName(text.charAt(0)) : text.startsWith(open);
    }

    private void begin(CallReader reader) {
        call = reader;
        state = State.CALL;
    }

    /// The name is the last part before the arguments: a type, and the fence of a block of code, may stand around it.
    private boolean name(boolean last) {
        int brace = pending.indexOf("{");
        if (brace < 0) {
            if (last) {
                content(pending.toString());
                pending.setLength(0);
            }
            return false;
        }
        String header = pending.substring(0, brace);
        for (String mark : calls.marks()) {
            header = header.replace(mark, "\n");
        }
        String name = header.strip().lines().reduce("", (before, line) -> line.strip());
        String id = newId();
        Matcher numbered = NUMBERED.matcher(name);
        if (calls.numbered() && numbered.matches()) {
            id = ids.add(name) ? name : id; // the template writes ids, which tell the model what was called
            name = numbered.group(1);
        }
        if (name.isEmpty() || !name.chars().allMatch(c -> ParameterReader.isName((char) c))) {
            content(pending.substring(0, brace));
            pending.delete(0, brace);
            state = State.ANSWER;
            return true;
        }
        pending.delete(0, brace);
        begin(new ObjectReader(sink, calls(), id, name));
        return true;
    }

    private boolean call(boolean last) {
        call.take(pending, last);
        if (!call.ended() && !last) {
            return false;
        }
        if (!call.told()) {
            content(call.raw()); // what is no call
        } else if (call.ended()) {
            called();
        }
        state = State.CALLS;
        return true;
    }
}
