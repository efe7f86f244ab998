package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Token.Kind;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Text;
import java.util.ArrayList;
import java.util.List;

/// Cuts a template into tokens.
///
/// White space follows Jinja2 3.1 with `trim_blocks` and `lstrip_blocks`: one newline after a tag or comment goes;
/// blanks before a tag or comment that is first in its line go; `-` strips all white space on its side, `+` switches
/// the rule off; the last newline of the template goes; every line ending is read as a newline.
final class Lexer {
    private static final String OPERATORS = "// ** == != >= <= + - / * % ~ [ ] ( ) { } > < = . : | , ;";

    private final String in;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    private Lexer(String in) {
        this.in = in;
    }

    /// {@return a template with every line ending as a newline, without its last one}
    static String normalize(String source) {
        String text = source.replace("\r\n", "\n").replace('\r', '\n');
        return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    }

    /// {@return the tokens of a normalized template, the last one of kind END}
    static List<Token> read(String in) {
        Lexer lexer = new Lexer(in);
        lexer.run();
        return lexer.tokens;
    }

    /// {@return a failure that names its line}
    static TemplateFailure failure(String in, int position, String text) {
        int line = 1;
        for (int i = in.indexOf('\n'); i >= 0 && i < position; i = in.indexOf('\n', i + 1)) {
            line++;
        }
        return new TemplateFailure("line " + line + ": " + text);
    }

    private TemplateFailure failure(int position, String text) {
        return failure(in, position, text);
    }

    private char peek(int position) {
        return position < in.length() ? in.charAt(position) : 0;
    }

    private void add(Kind kind, String text, int position) {
        tokens.add(new Token(kind, text, position));
    }

    private void run() {
        while (at < in.length()) {
            int open = in.indexOf('{', at);
            while (open >= 0 && "{%#".indexOf(peek(open + 1)) < 0) {
                open = in.indexOf('{', open + 1);
            }
            if (open < 0 || open + 1 == in.length()) {
                add(Kind.TEXT, in.substring(at), at);
                break;
            }
            char kind = in.charAt(open + 1);
            text(open, kind != '{');
            at = open + (peek(open + 2) == '-' || peek(open + 2) == '+' ? 3 : 2);
            if (kind == '#') {
                comment(open);
            } else if (kind == '{') {
                code(open, Kind.EXPRESSION_BEGIN, Kind.EXPRESSION_END, "}}");
            } else if (!raw(open)) {
                code(open, Kind.TAG_BEGIN, Kind.TAG_END, "%}");
            }
        }
        add(Kind.END, "", in.length());
    }

    /// Adds the text up to a marker, stripped as the marker asks.
    private void text(int open, boolean lineStrip) {
        int to = open;
        char sign = peek(open + 2);
        if (sign == '-') {
            while (to > at && Text.isSpace(in.charAt(to - 1))) {
                to--;
            }
        } else if (sign != '+' && lineStrip) {
            int start = open;
            while (start > at && in.charAt(start - 1) != '\n' && Text.isSpace(in.charAt(start - 1))) {
                start--;
            }
            to = start == 0 || in.charAt(start - 1) == '\n' ? start : open;
        }
        if (to > at) {
            add(Kind.TEXT, in.substring(at, to), at);
        }
    }

    private void comment(int open) {
        int end = in.indexOf("#}", at);
        if (end < 0) {
            throw failure(open, "the comment has no end");
        }
        char sign = end > at ? in.charAt(end - 1) : 0;
        at = end + 2;
        afterTag(sign);
    }

    private void afterTag(char sign) {
        if (sign == '-') {
            skipSpace();
        } else if (sign != '+' && peek(at) == '\n') {
            at++;
        }
    }

    private void skipSpace() {
        while (at < in.length() && Text.isSpace(in.charAt(at))) {
            at++;
        }
    }

    /// Takes a word and an end of a tag after it, as far as they are there, and returns the end's sign or -1.
    private int wordAndEnd(String word, String signs) {
        skipSpace();
        if (!in.startsWith(word, at)) {
            return -1;
        }
        at += word.length();
        skipSpace();
        char sign = signs.indexOf(peek(at)) >= 0 ? peek(at) : 0;
        at += sign == 0 ? 0 : 1;
        if (!in.startsWith("%}", at)) {
            return -1;
        }
        at += 2;
        return sign;
    }

    /// Adds the text of a raw block, if the tag that was opened begins one.
    private boolean raw(int open) {
        int start = at;
        int sign = wordAndEnd("raw", "-");
        if (sign < 0) {
            at = start;
            return false;
        }
        if (sign == '-') {
            skipSpace();
        }
        int from = at;
        for (int i = in.indexOf("{%", at); i >= 0; i = in.indexOf("{%", i + 2)) {
            at = i + (peek(i + 2) == '-' || peek(i + 2) == '+' ? 3 : 2);
            int endSign = wordAndEnd("endraw", "-+");
            if (endSign >= 0) {
                int end = at;
                at = from;
                text(i, true);
                at = end;
                afterTag((char) endSign);
                return true;
            }
        }
        throw failure(open, "the raw block has no endraw");
    }

    /// Adds the tokens of an expression or tag; its end does not count within brackets.
    private void code(int open, Kind begin, Kind end, String close) {
        add(begin, "", open);
        StringBuilder brackets = new StringBuilder();
        while (true) {
            skipSpace();
            if (at == in.length()) {
                throw failure(open, "the " + (end == Kind.TAG_END ? "tag" : "expression") + " has no end");
            }
            char c = in.charAt(at);
            boolean signed = c == '-' || (c == '+' && end == Kind.TAG_END);
            if (brackets.isEmpty() && in.startsWith(close, signed ? at + 1 : at)) {
                add(end, close, at);
                at += signed ? 3 : 2;
                if (end == Kind.TAG_END) {
                    afterTag(signed ? c : 0);
                } else if (signed) {
                    skipSpace();
                }
                return;
            }
            if (c == '\'' || c == '"') {
                string(c);
            } else if (isDigit(c)) {
                number();
            } else if (Character.isUnicodeIdentifierStart(c) || c == '_') {
                int start = at;
                while (Character.isUnicodeIdentifierPart(peek(at)) && at < in.length()) {
                    at++;
                }
                add(Kind.NAME, in.substring(start, at), start);
            } else {
                operator(c, brackets);
            }
        }
    }

    private void operator(char c, StringBuilder brackets) {
        int bracket = ")]}".indexOf(c);
        if (bracket >= 0) {
            int last = brackets.length() - 1;
            if (last < 0 || brackets.charAt(last) != c) {
                throw failure(at, "'" + c + "' closes nothing");
            }
            brackets.setLength(last);
        } else if ("([{".indexOf(c) >= 0) {
            brackets.append(")]}".charAt("([{".indexOf(c)));
        }
        String two = in.substring(at, Math.min(at + 2, in.length()));
        String text = two.length() == 2 && two.charAt(1) != ' ' && OPERATORS.contains(two) ? two : two.substring(0, 1);
        if (!OPERATORS.contains(text)) {
            throw failure(at, "unexpected character '" + c + "'");
        }
        add(Kind.OPERATOR, text, at);
        at += text.length();
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private void digits() {
        while (isDigit(peek(at)) || (peek(at) == '_' && isDigit(peek(at + 1)))) {
            at++;
        }
    }

    /// Adds a number; after a point it is never a float, so that `a.0.1` reads two positions.
    private void number() {
        int start = at;
        char second = Character.toLowerCase(peek(at + 1));
        int radix = peek(at) != '0' ? 10 : second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
        boolean floating = false;
        if (radix != 10) {
            at += 2;
            while (Character.digit(peek(at), radix) >= 0 || peek(at) == '_') {
                at++;
            }
        } else {
            digits();
            if (start == 0 || in.charAt(start - 1) != '.') {
                if (peek(at) == '.' && isDigit(peek(at + 1))) {
                    floating = true;
                    at++;
                    digits();
                }
                int exponent = at + (peek(at + 1) == '-' || peek(at + 1) == '+' ? 2 : 1);
                if ((peek(at) == 'e' || peek(at) == 'E') && isDigit(peek(exponent))) {
                    floating = true;
                    at = exponent;
                    digits();
                }
            }
        }
        String text = in.substring(start, at).replace("_", "");
        try {
            text = floating || radix == 10 ? text : Long.toString(Long.parseLong(text.substring(2), radix));
        } catch (NumberFormatException e) {
            throw failure(start, "the number " + text + " is broken or has more than 64 bits");
        }
        add(floating ? Kind.FLOAT : Kind.INTEGER, text, start);
    }

    private void string(char quote) {
        int start = at++;
        StringBuilder text = new StringBuilder();
        while (peek(at) != quote) {
            if (at + 1 >= in.length()) {
                throw failure(start, "the string has no end");
            }
            char c = in.charAt(at++);
            if (c == '\\') {
                escape(in.charAt(at++), text);
            } else {
                text.append(c);
            }
        }
        at++;
        add(Kind.STRING, text.toString(), start);
    }

    private void escape(char e, StringBuilder text) {
        int simple = "ntrbfav\\'\"".indexOf(e);
        if (simple >= 0) {
            text.append("\n\t\r\b\f\u0007\u000b\\'\"".charAt(simple));
        } else if (e == 'x' || e == 'u' || e == 'U') {
            code(text, e == 'x' ? 2 : e == 'u' ? 4 : 8, 16);
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

    private void code(StringBuilder text, int digits, int radix) {
        int code = 0;
        for (int end = at + digits; at < end; at++) {
            int digit = Character.digit(peek(at), radix);
            code = digit < 0 || code > Character.MAX_CODE_POINT ? Integer.MAX_VALUE : code * radix + digit;
        }
        if (!Character.isValidCodePoint(code)) {
            throw failure(at - 1, "the string has a broken escape");
        }
        text.appendCodePoint(code);
    }
}
