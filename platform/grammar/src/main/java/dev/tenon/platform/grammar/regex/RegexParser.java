package dev.tenon.platform.grammar.regex;

import dev.tenon.platform.grammar.expr.CodePoints;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.expr.Work;
import java.util.ArrayList;
import java.util.List;

/// Parses a regular expression. What its language cannot express without looking around, such as
/// `(?=`, `\b` and references to groups, is refused.
final class RegexParser {
    private static final int MOST_REPEATS = 100_000;

    private final String source;
    private final GrammarLimits limits;
    private final Work work;
    private int at;
    private int depth;

    RegexParser(String source, ExprPool pool) {
        this.source = source;
        this.limits = pool.limits();
        this.work = pool.work();
    }

    RegexNode parse() {
        limits.checkLength("regular expression", source);
        RegexNode node = choice();
        if (at < source.length()) {
            throw syntax("')' without '('");
        }
        return node;
    }

    private RegexNode choice() {
        limits.checkNesting("regular expression", ++depth);
        List<RegexNode> parts = new ArrayList<>(List.of(sequence()));
        while (take('|')) {
            parts.add(sequence());
        }
        depth--;
        return parts.size() == 1 ? parts.getFirst() : new RegexNode.Choice(parts);
    }

    private RegexNode sequence() {
        List<RegexNode> parts = new ArrayList<>();
        while (at < source.length() && peek() != '|' && peek() != ')') {
            parts.add(repeated(atom()));
        }
        return parts.size() == 1 ? parts.getFirst() : new RegexNode.Sequence(parts);
    }

    private RegexNode repeated(RegexNode atom) {
        if (at == source.length()) {
            return atom;
        }
        int min = 0;
        int max = Expr.UNBOUNDED;
        if (take('+')) {
            min = 1;
        } else if (take('?')) {
            max = 1;
        } else if (!take('*')) {
            if (!take('{')) {
                return atom;
            }
            min = count();
            max = !take(',') ? min : at < source.length() && peek() == '}' ? Expr.UNBOUNDED : count();
            require('}');
            if (max < min) {
                throw syntax("'{" + min + "," + max + "}' has a maximum below its minimum");
            }
        }
        take('?'); // a lazy repetition is the same language
        if (at < source.length() && "*+?{".indexOf(peek()) >= 0) {
            throw syntax("'" + peek() + "' repeats nothing");
        }
        return new RegexNode.Repeat(atom, min, max);
    }

    private int count() {
        int from = at;
        long value = 0;
        while (at < source.length() && peek() >= '0' && peek() <= '9') {
            value = Math.min(10 * value + source.charAt(at++) - '0', Expr.UNBOUNDED);
        }
        if (at == from) {
            throw syntax("expected a number");
        }
        if (value > MOST_REPEATS) {
            throw GrammarException.limit("A regular expression repeats " + source.substring(from, at)
                    + " times; at most " + MOST_REPEATS + " are allowed.");
        }
        return (int) value;
    }

    private RegexNode atom() {
        char c = source.charAt(at);
        switch (c) {
            case '(' -> {
                at++;
                return group();
            }
            case '[' -> {
                at++;
                return new RegexNode.Chars(set());
            }
            case '.' -> {
                at++;
                return new RegexNode.Chars(CharClasses.NOT_LINE_END);
            }
            case '^', '$' -> {
                at++;
                return new RegexNode.Anchor(c == '^');
            }
            case '*', '+', '?' -> throw syntax("'" + c + "' repeats nothing");
            case '\\' -> {
                at++;
                return new RegexNode.Chars(escape(false));
            }
            default -> {
                int codePoint = source.codePointAt(at);
                at += Character.charCount(codePoint);
                return new RegexNode.Chars(CodePoints.range(codePoint, codePoint));
            }
        }
    }

    private RegexNode group() {
        if (take('?')) {
            if (take('<')) {
                if (at < source.length() && (peek() == '=' || peek() == '!')) {
                    throw unsupported("'(?<" + peek() + "', which looks behind");
                }
                int end = source.indexOf('>', at);
                if (end < 0) {
                    throw syntax("a group's name without '>'");
                }
                at = end + 1;
            } else if (!take(':')) {
                String found = at < source.length() ? String.valueOf(peek()) : "";
                throw unsupported("'(?" + found + "'" + ("=!".contains(found) ? ", which looks ahead" : ""));
            }
        }
        RegexNode node = choice();
        require(')');
        return node;
    }

    private CodePoints set() {
        boolean negated = take('^');
        CodePoints set = CodePoints.of("");
        while (true) {
            if (at == source.length()) {
                throw syntax("'[' without ']'");
            }
            work.add(set.edgeCount());
            if (take(']')) {
                return negated ? set.complement() : set;
            }
            CodePoints first = member();
            if (at + 1 < source.length() && peek() == '-' && source.charAt(at + 1) != ']') {
                at++;
                CodePoints last = member();
                set = set.or(range(first, last));
            } else {
                set = set.or(first);
            }
        }
    }

    private CodePoints range(CodePoints first, CodePoints last) {
        List<CodePoints.Range> a = first.ranges();
        List<CodePoints.Range> b = last.ranges();
        boolean single = a.size() == 1
                && b.size() == 1
                && a.getFirst().from() == a.getFirst().to()
                && b.getFirst().from() == b.getFirst().to();
        if (!single || a.getFirst().from() > b.getFirst().from()) {
            throw syntax("a range in '[]' whose ends are no two ascending characters");
        }
        return CodePoints.range(a.getFirst().from(), b.getFirst().from());
    }

    private CodePoints member() {
        if (take('\\')) {
            return escape(true);
        }
        int codePoint = source.codePointAt(at);
        at += Character.charCount(codePoint);
        return CodePoints.range(codePoint, codePoint);
    }

    private CodePoints escape(boolean inSet) {
        if (at == source.length()) {
            throw syntax("'\\' at the end");
        }
        char c = source.charAt(at++);
        return switch (c) {
            case 'd' -> CharClasses.DIGIT;
            case 'D' -> CharClasses.DIGIT.complement();
            case 'w' -> CharClasses.WORD;
            case 'W' -> CharClasses.WORD.complement();
            case 's' -> CharClasses.SPACE;
            case 'S' -> CharClasses.SPACE.complement();
            case 't' -> CodePoints.of("\t");
            case 'n' -> CodePoints.of("\n");
            case 'v' -> CodePoints.of("\u000b");
            case 'f' -> CodePoints.of("\f");
            case 'r' -> CodePoints.of("\r");
            case 'a' -> throw unsupported("'\\a'");
            case 'c' -> control();
            case 'x' -> character(hex(2));
            case 'u' -> character(unicode());
            case 'p' -> property();
            case 'P' -> property().complement();
            case 'b' -> {
                if (!inSet) {
                    throw unsupported("'\\b', which looks around");
                }
                yield CodePoints.of("\b");
            }
            case '0' -> {
                if (at < source.length() && Character.isDigit(peek())) {
                    throw unsupported("an octal escape");
                }
                yield CodePoints.of("\0");
            }
            default -> {
                if (Character.isLetterOrDigit(c)) {
                    throw unsupported("'\\" + c + "'");
                }
                at--;
                int codePoint = source.codePointAt(at);
                at += Character.charCount(codePoint);
                yield character(codePoint);
            }
        };
    }

    private CodePoints control() {
        char letter = at < source.length() ? source.charAt(at++) : 0;
        if (letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z') {
            return character(letter & 31);
        }
        throw syntax("'\\c' without a letter");
    }

    private CodePoints character(int codePoint) {
        if (codePoint > Character.MAX_CODE_POINT || codePoint >= 0xD800 && codePoint <= 0xDFFF) {
            throw syntax("an escape of no character");
        }
        return CodePoints.range(codePoint, codePoint);
    }

    private int unicode() {
        if (take('{')) {
            int end = source.indexOf('}', at);
            if (end < 0 || end - at > 6 || end == at) {
                throw syntax("'\\u{' without '}' after one to six digits");
            }
            int value = hex(end - at);
            at++;
            return value;
        }
        int value = hex(4);
        if (Character.isHighSurrogate((char) value) && source.startsWith("\\u", at)) {
            at += 2;
            return Character.toCodePoint((char) value, (char) hex(4));
        }
        return value;
    }

    private int hex(int digits) {
        if (at + digits > source.length()) {
            throw syntax("an escape that is cut off");
        }
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = Character.digit(source.charAt(at++), 16);
            if (digit < 0) {
                throw syntax("an escape whose digits are not hexadecimal");
            }
            value = 16 * value + digit;
        }
        return value;
    }

    private CodePoints property() {
        int end = take('{') ? source.indexOf('}', at) : -1;
        if (end < 0) {
            throw syntax("'\\p' without a name in braces");
        }
        String name = source.substring(at, end);
        at = end + 1;
        CodePoints set = CharClasses.property(name);
        if (set == null) {
            throw unsupported("the property '" + name + "'");
        }
        return set;
    }

    private char peek() {
        return source.charAt(at);
    }

    private boolean take(char c) {
        boolean there = at < source.length() && source.charAt(at) == c;
        at += there ? 1 : 0;
        return there;
    }

    private void require(char c) {
        if (!take(c)) {
            throw syntax("expected '" + c + "'");
        }
    }

    private GrammarException syntax(String what) {
        return GrammarException.syntax("Regular expression '" + source + "', character " + at + ": " + what + ".");
    }

    private GrammarException unsupported(String what) {
        return GrammarException.unsupported(
                "Regular expression '" + source + "' has " + what + "; masks cannot enforce it. Write it without.");
    }
}
