package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Splits;
import dev.tenon.platform.templates.values.TemplateFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Cuts a template into tokens.
///
/// White space follows Jinja2 3.1 with `trim_blocks` and `lstrip_blocks`: one newline after a tag or comment goes;
/// blanks before a tag or comment that is first in its line go; `-` strips all white space on its side, `+` switches
/// the rule off; the last newline of the template goes; every line ending is read as a newline.
final class Lexer {
    /// Number after a point, float, number, name, operator, in groups 1 to 4 where they are kinds of tokens.
    private static final Pattern TOKEN = Pattern.compile("((?<!\\.)\\d[\\d_]*(?:\\.\\d[\\d_]*(?:[eE][+-]?\\d[\\d_]*)?"
            + "|[eE][+-]?\\d[\\d_]*))|(0[bB][01_]+|0[oO][0-7_]+|0[xX][\\da-fA-F_]+|\\d[\\d_]*)"
            + "|([\\p{L}_][\\p{L}\\p{M}\\p{N}_]*)|(//|\\*\\*|[=!<>]=|[-+*/%~\\[\\](){}<>=.:|,;])");
    private static final Pattern RAW = Pattern.compile("\\s*raw\\s*(?:-%}\\s*|%})", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Pattern END_RAW =
            Pattern.compile("\\{%[-+]?\\s*endraw\\s*[-+]?%}", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Kind[] KINDS = {Kind.FLOAT, Kind.INTEGER, Kind.NAME, Kind.OPERATOR};

    private final String in;
    private final Matcher matcher;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    /// What a token is; TAG and EXPRESSION are their beginnings.
    enum Kind {
        TEXT,
        EXPRESSION,
        TAG,
        CLOSE,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    /// A piece of a template: its text, or what a string stands for, and where it begins.
    record Token(Kind kind, String text, int position) {
        /// {@return whether it is this name, operator or end of a tag}
        boolean is(String other) {
            return kind != Kind.TEXT && kind != Kind.STRING && text.equals(other);
        }
    }

    /// Reads a normalized template.
    Lexer(String in) {
        this.in = in;
        matcher = TOKEN.matcher(in).useTransparentBounds(true);
    }

    /// {@return a template with every line ending as a newline, without its last one}
    static String normalize(String source) {
        String text = source.replace("\r\n", "\n").replace('\r', '\n');
        return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    }

    static TemplateFailure failure(String in, int position, String text) {
        long line = 1 + in.substring(0, position).chars().filter(c -> c == '\n').count();
        return new TemplateFailure("line " + line + ": " + text);
    }

    private char peek(int position) {
        return position < in.length() ? in.charAt(position) : 0;
    }

    /// {@return the tokens, the last one of kind END}
    List<Token> run() {
        while (at < in.length()) {
            int open = in.indexOf('{', at);
            while (open >= 0 && "{%#".indexOf(peek(open + 1)) < 0) {
                open = in.indexOf('{', open + 1);
            }
            text(open < 0 ? in.length() : open);
            if (open < 0) {
                break;
            }
            at = open + (peek(open + 2) == '-' || peek(open + 2) == '+' ? 3 : 2);
            if (peek(open + 1) == '#') {
                int end = in.indexOf("#}", at);
                if (end < 0) {
                    throw failure(in, open, "the comment has no end");
                }
                char sign = end > at ? in.charAt(end - 1) : 0;
                at = end + 2;
                skipAfter(sign, true);
            } else if (peek(open + 1) == '{') {
                code(open, Kind.EXPRESSION, "}}");
            } else if (!raw(open)) {
                code(open, Kind.TAG, "%}");
            }
        }
        tokens.add(new Token(Kind.END, "", in.length()));
        return tokens;
    }

    /// Adds the text up to a marker or the end, stripped as the marker asks.
    private void text(int open) {
        int to = open;
        char sign = peek(open + 2);
        while (to > at && Splits.isSpace(in.charAt(to - 1)) && (sign == '-' || in.charAt(to - 1) != '\n')) {
            to--;
        }
        boolean lineStart = to == 0 || in.charAt(to - 1) == '\n';
        boolean strips = open < in.length() && (sign == '-' || sign != '+' && peek(open + 1) != '{' && lineStart);
        if (open > at) {
            tokens.add(new Token(Kind.TEXT, in.substring(at, strips ? to : open), at));
        }
    }

    private void skipAfter(char sign, boolean newline) {
        if (sign == '-') {
            skipSpace();
        } else if (newline && sign != '+' && peek(at) == '\n') {
            at++;
        }
    }

    private void skipSpace() {
        while (at < in.length() && Splits.isSpace(in.charAt(at))) {
            at++;
        }
    }

    /// Adds the text of a raw block if the tag that was opened begins one.
    private boolean raw(int open) {
        Matcher begin = RAW.matcher(in).region(at, in.length());
        if (!begin.lookingAt()) {
            return false;
        }
        Matcher end = END_RAW.matcher(in);
        if (!end.find(begin.end())) {
            throw failure(in, open, "the raw block has no endraw");
        }
        at = begin.end();
        text(end.start());
        at = end.end();
        skipAfter(in.charAt(at - 3), true);
        return true;
    }

    /// Adds the tokens of an expression or tag; its end does not count within brackets.
    private void code(int open, Kind kind, String close) {
        tokens.add(new Token(kind, "", open));
        StringBuilder brackets = new StringBuilder();
        while (true) {
            skipSpace();
            if (at == in.length()) {
                throw failure(in, open, "an expression or tag has no end");
            }
            int start = at;
            char c = peek(at);
            boolean signed = c == '-' || (c == '+' && kind == Kind.TAG);
            if (brackets.isEmpty() && in.startsWith(close, signed ? at + 1 : at)) {
                tokens.add(new Token(Kind.CLOSE, close, at));
                at += signed ? 3 : 2;
                skipAfter(signed ? c : 0, kind == Kind.TAG);
                return;
            }
            if (c == '\'' || c == '"') {
                tokens.add(new Token(Kind.STRING, string(c), start));
            } else if (matcher.region(at, in.length()).lookingAt()) {
                at = matcher.end();
                int group = 1;
                while (matcher.start(group) < 0) {
                    group++;
                }
                tokens.add(new Token(KINDS[group - 1], matcher.group(), start));
                balance(c, brackets, start);
            } else {
                throw failure(in, at, "unexpected character '" + c + "'");
            }
        }
    }

    private void balance(char c, StringBuilder brackets, int position) {
        if ("([{".indexOf(c) >= 0) {
            brackets.append(")]}".charAt("([{".indexOf(c)));
        } else if (")]}".indexOf(c) >= 0) {
            int last = brackets.length() - 1;
            if (last < 0 || brackets.charAt(last) != c) {
                throw failure(in, position, "'" + c + "' closes nothing");
            }
            brackets.setLength(last);
        }
    }

    private String string(char quote) {
        int start = at++;
        StringBuilder text = new StringBuilder();
        while (peek(at) != quote) {
            if (at + 1 >= in.length()) {
                throw failure(in, start, "the string has no end");
            }
            char c = in.charAt(at++);
            if (c == '\\') {
                escape(in.charAt(at++), text);
            } else {
                text.append(c);
            }
        }
        at++;
        return text.toString();
    }

    private void escape(char e, StringBuilder text) {
        int simple = "ntrbfav\\'\"".indexOf(e);
        if (simple >= 0) {
            text.append("\n\t\r\b\f\u0007\u000b\\'\"".charAt(simple));
        } else if (e == 'x' || e == 'u' || e == 'U') {
            code(text, e == 'x' ? 2 : e == 'u' ? 4 : 8, 16);
        } else if (e == 'N' && peek(at) == '{') {
            named(text);
        } else if (e >= '0' && e <= '7') {
            int digits = 1;
            while (digits < 3 && peek(at - 1 + digits) >= '0' && peek(at - 1 + digits) <= '7') {
                digits++;
            }
            at--;
            code(text, digits, 8);
        } else if (e != '\n') {
            text.append('\\').append(e);
        }
    }

    private void named(StringBuilder text) {
        int end = Math.max(at, in.indexOf('}', at));
        try {
            text.appendCodePoint(Character.codePointOf(in.substring(at + 1, end)));
            at = end + 1;
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw failure(in, at - 1, "the string has a broken escape");
        }
    }

    private void code(StringBuilder text, int digits, int radix) {
        try {
            text.appendCodePoint(Integer.parseInt(in, at, at + digits, radix));
            at += digits;
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw failure(in, at - 1, "the string has a broken escape");
        }
    }
}
