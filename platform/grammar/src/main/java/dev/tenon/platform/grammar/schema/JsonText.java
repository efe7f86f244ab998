package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.CodePoints;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Utf8;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// How JSON values are written.
///
/// Strings that a schema restricts by more than their length are written in one way only:
/// characters as they are, but `"`, `\` and control characters by their shortest escape. So texts
/// can be intersected in place of values.
final class JsonText {
    private static final CodePoints CONTROL = CodePoints.range(0, 0x1F);
    private static final CodePoints SPECIAL = CONTROL.or(CodePoints.of("\"\\"));
    private static final String SHORT = "\"\\\b\f\n\r\t";
    private static final String SHORT_LETTERS = "\"\\bfnrt";
    private static final int MOST_INDENT = 32;

    private final ExprPool pool;
    /// A blank, or a line's end and the next one's indentation.
    final Expr blank;

    final Expr comma;
    final Expr colon;
    private final Expr quote;
    private final Expr freeCharacter;
    private final Map<CodePoints, Expr> characters = new HashMap<>();

    JsonText(ExprPool pool) {
        this.pool = pool;
        Expr line = pool.concat(
                pool.literal("\n"),
                pool.or(
                        pool.repeat(pool.literal(" "), 0, MOST_INDENT),
                        pool.repeat(pool.literal("\t"), 0, MOST_INDENT / 4)));
        this.blank = pool.or(pool.empty(), pool.literal(" "), line);
        this.comma = pool.concat(pool.literal(","), blank);
        this.colon = pool.concat(pool.literal(":"), blank);
        this.quote = pool.literal("\"");
        this.freeCharacter = freeCharacter();
    }

    private Expr freeCharacter() {
        Expr hex = hex("0-9a-fA-F");
        Expr unit =
                pool.or(pool.concat(hex("0-9a-cA-CefEF"), hex, hex, hex), pool.concat(hex("dD"), hex("0-7"), hex, hex));
        Expr pair = pool.concat(
                hex("dD"), hex("89abAB"), hex, hex, pool.literal("\\u"), hex("dD"), hex("c-fC-F"), hex, hex);
        List<Expr> letters = new ArrayList<>();
        for (char c : (SHORT_LETTERS + "/").toCharArray()) {
            letters.add(pool.bytes(c, c));
        }
        letters.add(pool.concat(pool.literal("u"), pool.or(unit, pair)));
        return pool.or(Utf8.of(pool, SPECIAL.complement()), pool.concat(pool.literal("\\"), pool.or(letters)));
    }

    /// {@return a byte of ASCII ranges, such as `0-9a`}
    private Expr hex(String ranges) {
        Expr set = pool.nothing();
        for (int i = 0; i < ranges.length(); i++) {
            boolean range = i + 2 < ranges.length() && ranges.charAt(i + 1) == '-';
            set = pool.or(set, pool.bytes(ranges.charAt(i), ranges.charAt(range ? i + 2 : i)));
            i += range ? 2 : 0;
        }
        return set;
    }

    /// {@return a character of a set, written in the one way}
    Expr character(CodePoints set) {
        return characters.computeIfAbsent(set, this::newCharacter);
    }

    private Expr newCharacter(CodePoints set) {
        List<Expr> ways = new ArrayList<>(List.of(Utf8.of(pool, set.minus(SPECIAL))));
        for (CodePoints.Range range : SPECIAL.ranges()) {
            for (int c = range.from(); c <= range.to(); c++) {
                if (set.contains(c)) {
                    ways.add(pool.literal(escaped(c)));
                }
            }
        }
        return pool.or(ways);
    }

    /// {@return a string of so many characters, without its quotes, written in the one way}
    Expr characters(int min, int max) {
        return pool.repeat(character(CodePoints.ALL), min, max);
    }

    /// {@return a string of so many characters, in any way that JSON has}
    Expr freeString(int min, int max) {
        return quoted(pool.repeat(freeCharacter, min, max));
    }

    Expr quoted(Expr inner) {
        return pool.concat(quote, inner, quote);
    }

    /// {@return exactly this string, without its quotes, written in the one way}
    Expr inner(String text) {
        StringBuilder written = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                throw GrammarException.syntax(
                        "A string of the schema has half a surrogate pair, which no text can hold.");
            }
            written.append(SPECIAL.contains(c) ? escaped(c) : Character.toString(c));
        });
        return pool.literal(written.toString());
    }

    private static String escaped(int c) {
        int at = SHORT.indexOf(c);
        return "\\" + (at >= 0 ? SHORT_LETTERS.charAt(at) : String.format("u%04x", c));
    }

    /// {@return exactly this value}
    Expr value(Object value) {
        return switch (value) {
            case null -> pool.literal("null");
            case Boolean b -> pool.literal(b.toString());
            case BigDecimal number -> pool.literal(number(number));
            case String text -> quoted(inner(text));
            case List<?> list -> {
                List<Expr> parts = new ArrayList<>();
                list.forEach(each -> parts.add(value(each)));
                yield bracketed("[", parts, "]");
            }
            case Map<?, ?> map -> {
                List<Expr> parts = new ArrayList<>();
                map.forEach((key, each) -> parts.add(pool.concat(value(key), colon, value(each))));
                yield bracketed("{", parts, "}");
            }
            default -> throw new IllegalArgumentException("no JSON value: " + value);
        };
    }

    private static String number(BigDecimal number) {
        BigDecimal short_ = number.stripTrailingZeros();
        return short_.scale() < 0 ? short_.setScale(0).toString() : short_.toPlainString();
    }

    private Expr bracketed(String open, List<Expr> parts, String close) {
        Expr inner = pool.empty();
        for (int i = parts.size() - 1; i >= 0; i--) {
            inner = pool.concat(i == 0 ? pool.empty() : comma, parts.get(i), inner);
        }
        return bracketed(open, inner, parts.isEmpty(), close);
    }

    /// {@return brackets around a content, or nothing but the brackets}
    ///
    /// @param content what is between them, not empty
    /// @param mayBeEmpty whether there may be nothing
    Expr bracketed(String open, Expr content, boolean mayBeEmpty, String close) {
        Expr full = content.isEmpty()
                ? pool.nothing()
                : pool.concat(pool.literal(open), blank, content, blank, pool.literal(close));
        return mayBeEmpty ? pool.or(full, pool.literal(open + close)) : full;
    }
}
