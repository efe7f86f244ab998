package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;

/// Splits replies in which marks stand around reasoning and calls.
///
/// Calls come in sections: an opening mark, then calls with marks, commas and brackets around them. What is read as a
/// call is kept until it is one; if it is none, its mark is text and reading goes on after the mark.
final class MarkParser extends ReplyParser {
    private static final String SEPARATORS = ",;[]";

    private final TemplateFormat format;
    private final List<Map<String, Object>> offered;
    private final CallFormat calls;
    private final CallSyntax syntax;
    private final List<String> openers;
    private final Set<String> ids = new HashSet<>();
    /// Whether arguments are handed on before their call is whole.
    private final boolean early;

    private final StringBuilder pending = new StringBuilder();
    private State state;
    /// Blanks at the end of the answer so far, which are part of it if more of it comes.
    private final StringBuilder blanks = new StringBuilder();
    /// Whether blanks before the next text of the answer are left out, there was text, the last thing was a call.
    private boolean fresh;

    private boolean answered;
    private boolean afterCall;
    /// The mark around the answer that may come next: what begins it before there is text, what ends it after that
    /// came; empty if none may.
    private String around;
    /// Whether the mark that begins the answer came.
    private boolean afterMark;
    /// What has come of a section since its last call: what closes that, and from an opening mark on.
    private final StringBuilder closing = new StringBuilder();

    private final StringBuilder opening = new StringBuilder();
    /// Whether the section began with a mark, has had a call, has an open bracket.
    private boolean marked;

    private boolean called;
    private boolean listed;
    /// The call that is read: its text, its id, the arguments that were handed on, its index (-1 if it was not told).
    private CallReader call;

    private final StringBuilder raw = new StringBuilder();
    private String id;
    private final StringBuilder handed = new StringBuilder();
    private int index;
    /// Reads what may be calls in thoughts that are not closed, and how much of what is pending it has.
    private MarkParser inner;

    private HeldReply held;
    private int given;

    private enum State {
        /// Nothing but blanks has come.
        START,
        REASONING,
        /// In thoughts, from a mark of calls on.
        CALL_IN_REASONING,
        /// Before the first text of the answer.
        BEFORE_ANSWER,
        ANSWER,
        /// Before, between and after calls.
        CALLS,
        /// Inside a call.
        CALL
    }

    MarkParser(TemplateFormat format, String prompt, List<Map<String, Object>> tools, ReplySink sink) {
        this(format, tools, sink, format.thinks(prompt) ? State.REASONING : State.START, true);
    }

    private MarkParser(
            TemplateFormat format, List<Map<String, Object>> offered, ReplySink sink, State state, boolean early) {
        super(offered, sink);
        this.format = format;
        this.offered = offered;
        this.calls = format.calls();
        this.syntax = CallSyntax.of(calls);
        this.openers = hasTools() ? syntax.openers() : List.of();
        this.early = early && !calls.bare();
        this.around = format.reply().reasoning().answerOpen();
        this.state = state;
    }

    @Override
    boolean isMark(String piece) {
        return format.think().startsWith(piece)
                || piece.equals(format.thought())
                || !around.isEmpty() && piece.equals(around)
                || hasTools() && calls.marks().contains(piece);
    }

    @Override
    boolean inCall() {
        return state == State.CALL
                || state == State.CALLS && !pending.isEmpty()
                || state == State.CALL_IN_REASONING && inner.inCall();
    }

    @Override
    void take(String text) {
        pending.append(text);
        run(false);
    }

    @Override
    public void finish() {
        run(true);
        if (state == State.CALLS) {
            noCall();
        }
        if (afterCall) {
            written(blanks.toString());
        } else if (!blanks.isEmpty()) {
            sink.content(blanks.toString());
        }
    }

    private void run(boolean last) {
        boolean more = true;
        while (more && (!pending.isEmpty() || last && (state == State.CALL || state == State.CALL_IN_REASONING))) {
            more = switch (state) {
                case START -> start(last);
                case REASONING -> reasoning(last);
                case CALL_IN_REASONING -> callInReasoning(last);
                case BEFORE_ANSWER -> beforeAnswer();
                case ANSWER -> answer(last);
                case CALLS -> calls(last);
                case CALL -> call(last);
            };
        }
    }

    private boolean start(boolean last) {
        String text = pending.toString().stripLeading();
        String think = format.think();
        if (!last && think.startsWith(text) && text.length() < think.length()) {
            return false;
        }
        if (text.startsWith(think)) {
            drop(pending.length() - text.length() + think.length());
            state = State.REASONING;
        } else {
            state = State.BEFORE_ANSWER;
        }
        return true;
    }

    /// Takes text away that is neither reasoning nor answer.
    private void drop(int length) {
        written(pending.substring(0, length));
        pending.delete(0, length);
    }

    private void written(String text) {
        if (!text.isEmpty()) {
            sink.written(text);
        }
    }

    private boolean reasoning(boolean last) {
        int end = pending.indexOf(format.thought());
        int opener = opener();
        if (opener >= 0 && (end < 0 || opener < end)) {
            reason(opener);
            held = new HeldReply();
            given = 0;
            inner = new MarkParser(format, offered, held, State.ANSWER, false);
            state = State.CALL_IN_REASONING;
            return true;
        }
        if (end < 0) {
            int kept = Math.max(partOfOpener(), partOf(format.thought(), pending));
            reason(pending.length() - (last ? 0 : kept));
            return false;
        }
        reason(end);
        drop(format.thought().length());
        fresh = true;
        state = State.BEFORE_ANSWER;
        return true;
    }

    private void reason(int length) {
        if (length > 0) {
            sink.reasoning(pending.substring(0, length));
            pending.delete(0, length);
        }
    }

    /// A call in thoughts is one if nothing closes the thoughts after it, which the end of the reply tells.
    private boolean callInReasoning(boolean last) {
        int end = pending.indexOf(format.thought());
        if (end >= 0) {
            reason(end);
            state = State.REASONING;
            return true;
        }
        inner.pending.append(pending, given, pending.length());
        given = pending.length();
        inner.run(false);
        if (last) {
            inner.finish();
        }
        if (held.isText()) {
            state = State.REASONING;
            reason(opening());
            return true;
        }
        if (last) {
            pending.setLength(0);
            held.hand(sink);
            for (int i = 0; i < inner.calls(); i++) {
                called();
            }
        }
        return false;
    }

    /// {@return length of the opening mark that comes next}
    private int opening() {
        return openers.stream()
                .filter(each -> pending.indexOf(each) == 0)
                .findFirst()
                .orElseThrow()
                .length();
    }

    /// {@return where the first opening mark is; -1 if there is none}
    private int opener() {
        return openers.stream()
                .mapToInt(pending::indexOf)
                .filter(at -> at >= 0)
                .min()
                .orElse(-1);
    }

    private int partOfOpener() {
        return openers.stream().mapToInt(each -> partOf(each, pending)).max().orElse(0);
    }

    private boolean beforeAnswer() {
        if (hasTools() && calls.bare()) {
            section(false);
        } else {
            state = State.ANSWER;
        }
        return true;
    }

    private boolean answer(boolean last) {
        int opener = opener();
        int mark = around.isEmpty() ? -1 : pending.indexOf(around);
        boolean surrounds = mark >= 0 && (opener < 0 || mark < opener);
        int found = surrounds ? mark : opener;
        int kept = last ? 0 : Math.max(partOfOpener(), partOf(around, pending));
        int end = found >= 0 ? found : pending.length() - kept;
        String text = pending.substring(0, end);
        pending.delete(0, end);
        content(text);
        if (surrounds && !around.isEmpty()) {
            drop(around.length());
            boolean opens = !afterMark;
            fresh = opens;
            afterCall = !opens;
            afterMark = true;
            around = opens ? format.reply().reasoning().answerClose() : "";
        } else if (!surrounds && opener >= 0) {
            section(true);
        }
        return found >= 0;
    }

    private void section(boolean byMark) {
        marked = byMark;
        called = false;
        listed = false;
        state = State.CALLS;
    }

    /// Hands on text of the answer, but for blanks at its end.
    private void content(String text) {
        String all = blanks + text;
        if (fresh) {
            String stripped = all.stripLeading();
            written(all.substring(0, all.length() - stripped.length()));
            all = stripped;
        }
        String stripped = all.stripTrailing();
        blanks.setLength(0);
        blanks.append(all, stripped.length(), all.length());
        if (!stripped.isEmpty()) {
            fresh = false;
            around = afterMark ? around : "";
            answered = true;
            afterCall = false;
            sink.content(stripped);
        }
    }

    private boolean calls(boolean last) {
        for (String mark : calls.marks()) {
            if (!last && mark.length() > pending.length() && mark.startsWith(pending.toString())) {
                return false;
            }
        }
        for (String mark : calls.marks()) {
            if (pending.indexOf(mark) == 0) {
                marked |= openers.contains(mark);
                between(mark.length(), openers.contains(mark));
                return true;
            }
        }
        char first = pending.charAt(0);
        if (Character.isWhitespace(first) || SEPARATORS.indexOf(first) >= 0) {
            listed |= first == '[';
            between(1, false);
            return true;
        }
        Matcher header = syntax.header().matcher(pending);
        boolean begins = header.lookingAt();
        if (header.hitEnd() && !last) {
            return false;
        }
        if (!begins || !begin(header)) {
            noCall();
        }
        return true;
    }

    /// Takes what stands before, between and after calls.
    private void between(int length, boolean opens) {
        boolean closes = called && opening.isEmpty() && !opens;
        (closes ? closing : opening).append(pending, 0, length);
        pending.delete(0, length);
    }

    /// {@return whether a call begins: one of a tool that was offered, or one that does not tell yet}
    private boolean begin(Matcher header) {
        Set<String> groups = header.pattern().namedGroups().keySet();
        String name = groups.contains("name") ? header.group("name") : null;
        String tool = name == null ? null : tools.offered(name);
        if (name != null && tool == null) {
            return false;
        }
        String own = groups.contains("own") ? header.group("own") : null;
        if (CallSyntax.number(calls).isPresent()) {
            own = header.group("number") == null ? null : header.group("id");
        }
        id = own != null && !own.equals(name) && ids.add(own) ? own : newId();
        call = name == null
                ? new ObjectReader(tools, calls.shape(), calls.bare() && !marked)
                : switch (calls.shape()) {
                    case NameThenTags tags -> new ParameterReader(tool, tags, syntax.close(), calls.marks(), tools);
                    case NameThenLiterals literals -> new ArgumentsReader(tool, Literals.of(literals.notation()));
                    default -> new ArgumentsReader(tool, calls.marks());
                };
        raw.setLength(0);
        raw.append(pending, 0, header.end());
        pending.delete(0, header.end());
        handed.setLength(0);
        index = -1;
        state = State.CALL;
        return true;
    }

    /// What comes is no call: what stands before it is text, but for the marks after the last call.
    private void noCall() {
        closed();
        boolean stuck = opening.isEmpty() && !called && !pending.isEmpty();
        content(opening + (stuck ? pending.substring(0, 1) : ""));
        pending.delete(0, stuck ? 1 : 0);
        opening.setLength(0);
        state = State.ANSWER;
    }

    private void closed() {
        for (int at = 0; at < closing.length(); ) {
            String rest = closing.substring(at);
            String mark = calls.marks().stream()
                    .filter(rest::startsWith)
                    .findFirst()
                    .orElse(listed && rest.startsWith("]") ? "]" : "");
            listed &= !mark.equals("]");
            written(mark);
            content(mark.isEmpty() ? rest.substring(0, 1) : "");
            at += Math.max(1, mark.length());
        }
        closing.setLength(0);
    }

    private boolean call(boolean last) {
        int taken = call.take(pending, last);
        raw.append(pending, 0, taken);
        pending.delete(0, taken);
        if (early && call.begun()) {
            hand();
        }
        if (call.failed() || call.ended() && Json.object(handed.toString() + call.arguments) == null) {
            reject();
            return true;
        }
        if (call.ended()) {
            accept();
        }
        return call.ended();
    }

    /// Hands on the arguments that are known.
    private void hand() {
        if (index < 0) {
            index = tell(id, call.name());
        }
        if (!call.arguments.isEmpty()) {
            sink.arguments(index, call.arguments.toString());
            handed.append(call.arguments);
            call.arguments.setLength(0);
        }
    }

    private void accept() {
        hand();
        called();
        if (!answered) {
            fresh = true;
        }
        afterCall = true;
        written(closing.toString() + opening + raw);
        closing.setLength(0);
        opening.setLength(0);
        called = true;
        state = State.CALLS;
    }

    /// The text is no call: it is read again, from after its mark on, if nothing was told of it.
    private void reject() {
        if (index < 0) {
            pending.insert(0, raw);
            noCall();
        } else {
            sink.uncalled(index);
            closed();
            content(opening.toString() + raw);
            opening.setLength(0);
            state = State.ANSWER;
        }
    }
}
