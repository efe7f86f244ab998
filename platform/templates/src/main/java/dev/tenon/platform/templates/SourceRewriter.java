package dev.tenon.platform.templates;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;

/// Cuts a template into text, expressions and tags with Jinja2's own white-space rules and writes it anew
/// for the
/// engine: markers that no text contains, no white space to strip, numbers in place of expressions.
///
/// Rules as in Jinja2 3.1 with `trim_blocks` and `lstrip_blocks`: one newline after a tag or comment goes;
/// blanks before
/// a tag or comment that is first in its line go; `-` strips all white space on its side, `+` switches the
/// rule off; the
/// last newline of the template goes; every line ending is read as a newline.
final class SourceRewriter {
    /// First character of a marker: a Unicode noncharacter.
    static final char OPEN = '\uFDD0';
    /// Last character of a marker.
    static final char CLOSE = '\uFDD1';

    private static final Pattern ASSIGNMENT = Pattern.compile("[\\s\\w.,()]+=");

    private final String in;
    private final StringBuilder out = new StringBuilder();
    private final List<String> pieces = new ArrayList<>();
    private int at;

    private SourceRewriter(String in) {
        this.in = in;
    }

    /// A template in the engine's hands.
    ///
    /// @param source what the engine reads: `OPEN { n } CLOSE` for expressions, `OPEN % tag n % CLOSE` for
    ///     tags
    /// @param pieces the text of expression or tag n
    record Rewritten(String source, List<String> pieces) {}

    /// Rewrites a template.
    ///
    /// @param source the template as it came
    /// @return its new form
    static Rewritten rewrite(String source) {
        String text = source.replace("\r\n", "\n").replace('\r', '\n');
        if (text.indexOf(OPEN) >= 0 || text.indexOf(CLOSE) >= 0) {
            throw new TemplateFailure("it contains U+FDD0 or U+FDD1, which are not characters");
        }
        if (text.endsWith("\n")) {
            text = text.substring(0, text.length() - 1);
        }
        SourceRewriter rewriter = new SourceRewriter(text);
        rewriter.run();
        return new Rewritten(rewriter.out.toString(), List.copyOf(rewriter.pieces));
    }

    private void run() {
        while (at < in.length()) {
            int open = nextOpening();
            if (open < 0) {
                out.append(in, at, in.length());
                return;
            }
            char kind = in.charAt(open + 1);
            text(at, open, kind != '{');
            at = open + 2;
            char sign = at < in.length() ? in.charAt(at) : 0;
            if (sign == '-' || sign == '+') {
                at++;
            }
            switch (kind) {
                case '#' -> comment(open);
                case '{' -> expression(open);
                default -> tag(open);
            }
        }
    }

    private int nextOpening() {
        for (int i = in.indexOf('{', at); i >= 0; i = in.indexOf('{', i + 1)) {
            char next = i + 1 < in.length() ? in.charAt(i + 1) : 0;
            if (next == '{' || next == '%' || next == '#') {
                return i;
            }
        }
        return -1;
    }

    /// Writes the text before a marker, stripped as the marker asks.
    private void text(int from, int open, boolean isBlock) {
        int to = open;
        char sign = open + 2 < in.length() ? in.charAt(open + 2) : 0;
        if (sign == '-') {
            while (to > from && PyText.isSpace(in.charAt(to - 1))) {
                to--;
            }
        } else if (sign != '+' && isBlock) {
            int start = open;
            while (start > from && in.charAt(start - 1) != '\n' && PyText.isSpace(in.charAt(start - 1))) {
                start--;
            }
            if (start == 0 || in.charAt(start - 1) == '\n') {
                to = start;
            }
        }
        out.append(in, from, to);
    }

    private void comment(int open) {
        int end = in.indexOf("#}", at);
        if (end < 0) {
            throw new TemplateFailure("the comment of line " + line(open) + " has no end");
        }
        char sign = end > at ? in.charAt(end - 1) : 0;
        at = end + 2;
        afterBlock(sign);
    }

    private void expression(int open) {
        int end = end(open, '}');
        boolean strip = in.charAt(end - 1) == '-' && end - 1 >= at;
        emit('{', "", in.substring(at, strip ? end - 1 : end));
        at = end + 2;
        if (strip) {
            skipSpace();
        }
    }

    private void tag(int open) {
        int end = end(open, '%');
        char last = end - 1 >= at ? in.charAt(end - 1) : 0;
        char sign = last == '-' || last == '+' ? last : 0;
        String content = in.substring(at, sign == 0 ? end : end - 1).strip();
        int name = 0;
        while (name < content.length() && Character.isJavaIdentifierPart(content.charAt(name))) {
            name++;
        }
        if (name == 0) {
            throw new TemplateFailure("the tag of line " + line(open) + " has no name");
        }
        at = end + 2;
        if (content.equals("raw")) {
            if (sign == '-') {
                skipSpace();
            }
            raw(open);
            return;
        }
        String tag = content.substring(0, name);
        String rest = content.substring(name);
        emit('%', tag.equals("set") && !ASSIGNMENT.matcher(rest).lookingAt() ? JinjaTags.SET_BLOCK : tag, rest);
        afterBlock(sign);
    }

    /// Copies text up to `endraw`.
    private void raw(int open) {
        int from = at;
        for (int i = in.indexOf("{%", at); i >= 0; i = in.indexOf("{%", i + 2)) {
            int p = i + 2;
            char sign = p < in.length() ? in.charAt(p) : 0;
            p += sign == '-' || sign == '+' ? 1 : 0;
            p = spaceEnd(p);
            if (in.startsWith("endraw", p)) {
                p = spaceEnd(p + 6);
                char endSign = p < in.length() ? in.charAt(p) : 0;
                p += endSign == '-' || endSign == '+' ? 1 : 0;
                if (in.startsWith("%}", p)) {
                    text(from, i, true);
                    at = p + 2;
                    afterBlock(endSign);
                    return;
                }
            }
        }
        throw new TemplateFailure("the raw block of line " + line(open) + " has no endraw");
    }

    private void afterBlock(char sign) {
        if (sign == '-') {
            skipSpace();
        } else if (sign != '+' && at < in.length() && in.charAt(at) == '\n') {
            at++;
        }
    }

    private void skipSpace() {
        at = spaceEnd(at);
    }

    private int spaceEnd(int from) {
        int i = from;
        while (i < in.length() && PyText.isSpace(in.charAt(i))) {
            i++;
        }
        return i;
    }

    private void emit(char kind, String name, String content) {
        out.append(OPEN).append(kind).append(' ').append(name).append(' ').append(pieces.size());
        out.append(' ').append(kind == '{' ? '}' : '%').append(CLOSE);
        pieces.add(content);
    }

    /// Finds the end of an expression or tag, outside strings and brackets.
    private int end(int open, char first) {
        Deque<Character> brackets = new ArrayDeque<>();
        for (int i = at; i < in.length(); i++) {
            char c = in.charAt(i);
            if (brackets.isEmpty() && c == first && i + 1 < in.length() && in.charAt(i + 1) == '}') {
                return i;
            }
            switch (c) {
                case '\'', '"' -> i = stringEnd(i, open);
                case '(' -> brackets.push(')');
                case '[' -> brackets.push(']');
                case '{' -> brackets.push('}');
                case ')', ']', '}' -> {
                    if (brackets.isEmpty() || brackets.pop() != c) {
                        throw new TemplateFailure("'" + c + "' in line " + line(i) + " closes nothing");
                    }
                }
                default -> {}
            }
        }
        throw new TemplateFailure(
                "the " + (first == '%' ? "tag" : "expression") + " of line " + line(open) + " has no end");
    }

    private int stringEnd(int start, int open) {
        char quote = in.charAt(start);
        for (int i = start + 1; i < in.length(); i++) {
            if (in.charAt(i) == '\\') {
                i++;
            } else if (in.charAt(i) == quote) {
                return i;
            }
        }
        throw new TemplateFailure("a string that starts in line " + line(open) + " has no end");
    }

    private int line(int position) {
        return 1
                + (int) in.substring(0, position).chars().filter(c -> c == '\n').count();
    }
}
