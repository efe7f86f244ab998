package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/// The methods of Python's `str`; positions count code points.
final class Strings {
    static final Map<String, List<String>> METHODS = Signatures.of("""
            capitalize,casefold,isalnum,isalpha,isascii,isdecimal,isdigit,isidentifier,islower,isnumeric,isprintable
            isspace,istitle,isupper,lower,swapcase,title,upper
            center,ljust,rjust width fillchar?
            count,find,index,rfind,rindex sub start? end?
            endswith suffix start? end?
            expandtabs tabsize?
            format *
            format_map mapping
            join iterable
            lstrip,rstrip,strip chars?
            partition,rpartition sep
            removeprefix prefix
            removesuffix suffix
            replace old new count?
            rsplit,split sep? maxsplit?
            splitlines keepends?
            startswith prefix start? end?
            zfill width""");
    /// Methods whose results have types that templates have no use for.
    static final List<String> ABSENT = List.of("encode", "maketrans", "translate");

    private Strings() {}

    /// {@return what a method gives for a text}
    static Object call(Budget budget, Text text, String name, Arguments args) {
        String s = text.toString();
        budget.step(s.length() / 64);
        return switch (name) {
            case "capitalize" -> made(budget, capitalize(text));
            case "casefold" ->
                made(budget, mapped(text, c -> lower(Character.toString(c).toUpperCase(Locale.ROOT))));
            case "center", "ljust", "rjust" -> {
                Text fill = Text.need(args.get(1, "fillchar", Text.of(" ")), "fillchar");
                yield pad(budget, text, args.integer(0, "width", 0), fill, name);
            }
            case "count" -> count(s, args);
            case "endswith", "startswith" -> affix(s, args, name.equals("startswith"));
            case "expandtabs" -> expanded(budget, text, args.integer(0, "tabsize", 8));
            case "find", "index", "rfind", "rindex" -> find(s, name, args);
            case "format" -> Fields.format(budget, text, args);
            case "format_map" ->
                Fields.format(budget, text, new Arguments(List.of(), Values.names(args.need(0, "mapping"))));
            case "join" -> Splits.join(budget, text, Values.iterate(budget, args.need(0, "iterable")), true);
            case "lower" -> made(budget, text.lower());
            case "lstrip", "rstrip", "strip" ->
                Splits.strip(text, args.get(0, "chars", Values.NONE), !name.equals("rstrip"), !name.equals("lstrip"));
            case "partition" -> partition(text, args.text(0, "sep"), false);
            case "removeprefix" ->
                s.startsWith(args.text(0, "prefix").toString())
                        ? text.substring(args.text(0, "prefix").toString().length())
                        : text;
            case "removesuffix" ->
                s.endsWith(args.text(0, "suffix").toString())
                        ? text.substring(
                                0,
                                s.length() - args.text(0, "suffix").toString().length())
                        : text;
            case "replace" ->
                Splits.replace(budget, text, args.text(0, "old"), args.text(1, "new"), args.integer(2, "count", -1));
            case "rpartition" -> partition(text, args.text(0, "sep"), true);
            case "rsplit" ->
                Splits.splitRight(budget, text, args.get(0, "sep", Values.NONE), args.integer(1, "maxsplit", -1));
            case "split" ->
                Splits.split(budget, text, args.get(0, "sep", Values.NONE), args.integer(1, "maxsplit", -1));
            case "splitlines" -> Splits.lines(budget, text, args.flag(0, "keepends"));
            case "swapcase" ->
                made(
                        budget,
                        mapped(text, c -> isUpper(c) ? lower(Character.toString(c)) : upper(Character.toString(c))));
            case "title" -> made(budget, title(text, false));
            case "upper" -> made(budget, text.upper());
            case "zfill" -> zfill(budget, text, args.integer(0, "width", 0));
            default -> holds(s, name);
        };
    }

    private static Text made(Budget budget, Text text) {
        budget.string(text.toString().length());
        return text;
    }

    private static String lower(String s) {
        return s.toLowerCase(Locale.ROOT);
    }

    private static String upper(String s) {
        return s.toUpperCase(Locale.ROOT);
    }

    private static boolean isUpper(int c) {
        return Character.isUpperCase(c) || Character.isTitleCase(c);
    }

    private static boolean isCased(int c) {
        return isUpper(c) || Character.isLowerCase(c);
    }

    private static boolean holds(String s, String name) {
        return switch (name) {
            case "isalnum" -> all(s, c -> Character.isLetter(c) || isNumeric(c));
            case "isalpha" -> all(s, Character::isLetter);
            case "isascii" -> s.chars().allMatch(c -> c < 128);
            case "isdecimal" -> all(s, Character::isDigit);
            case "isdigit" -> all(s, Strings::isDigit);
            case "isidentifier" ->
                all(s, c -> c == '_' || Character.isUnicodeIdentifierPart(c) && !Character.isIdentifierIgnorable(c))
                        && (s.charAt(0) == '_' || Character.isUnicodeIdentifierStart(s.codePointAt(0)));
            case "islower" -> isCase(s, false);
            case "isnumeric" -> all(s, Strings::isNumeric);
            case "isprintable" -> s.codePoints().allMatch(Printer::isPrintable);
            case "isspace" -> all(s, Splits::isSpace);
            case "istitle" ->
                s.codePoints().anyMatch(Strings::isCased)
                        && title(Text.of(s), false).toString().equals(s);
            case "isupper" -> isCase(s, true);
            default -> throw new TemplateFailure("str." + name + "() does not exist");
        };
    }

    private static boolean all(String s, IntPredicate holds) {
        return !s.isEmpty() && s.codePoints().allMatch(holds);
    }

    private static boolean isNumeric(int c) {
        int type = Character.getType(c);
        return Character.isDigit(c) || type == Character.LETTER_NUMBER || type == Character.OTHER_NUMBER;
    }

    private static boolean isDigit(int c) {
        int value = Character.getNumericValue(c);
        return Character.isDigit(c) || Character.getType(c) == Character.OTHER_NUMBER && value >= 0 && value <= 9;
    }

    static boolean isCase(String s, boolean upper) {
        return s.codePoints().anyMatch(Strings::isCased)
                && s.codePoints()
                        .filter(Strings::isCased)
                        .allMatch(c -> upper ? Character.isUpperCase(c) : Character.isLowerCase(c));
    }

    /// {@return a text with each code point changed}
    private static Text mapped(Text text, IntFunction<String> change) {
        TextBuilder out = new TextBuilder();
        String s = text.toString();
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            out.append(change.apply(s.codePointAt(i)), text, i);
        }
        return out.toText();
    }

    /// {@return a text with the first letter of each word upper, the others lower; words begin
    ///     after blanks, `-` and brackets for the filter, after all that has no case for the
    ///     method}
    static Text title(Text text, boolean filter) {
        boolean[] inWord = {false};
        return mapped(text, c -> {
            String one = Character.toString(c);
            String changed = inWord[0] ? lower(one) : filter ? upper(one) : titled(c, one);
            inWord[0] = filter ? !Splits.isSpace(c) && "-({[<".indexOf(c) < 0 : isCased(c);
            return changed;
        });
    }

    private static String titled(int c, String one) {
        String upper = upper(one);
        boolean several = upper.codePointCount(0, upper.length()) > 1;
        return several ? upper.charAt(0) + lower(upper.substring(1)) : Character.toString(Character.toTitleCase(c));
    }

    static Text capitalize(Text text) {
        String s = text.toString();
        int first = s.offsetByCodePoints(0, Math.min(1, s.length()));
        return title(text.substring(0, first), false)
                .concat(text.substring(first).lower());
    }

    /// {@return where a search may look, as indices of chars; null if nowhere}
    private static int[] window(String s, Arguments args) {
        int n = s.codePointCount(0, s.length());
        int start = args.integer(1, "start", 0);
        int end = args.integer(2, "end", n);
        int from = Math.max(0, start < 0 ? start + n : start);
        int to = Math.clamp(end < 0 ? end + n : end, 0, n);
        if (from > to) {
            return null;
        }
        int at = s.offsetByCodePoints(0, from);
        return new int[] {at, s.offsetByCodePoints(at, to - from)};
    }

    private static Object find(String s, String name, Arguments args) {
        int[] window = window(s, args);
        String sub = args.text(0, "sub").toString();
        String in = window == null ? "" : s.substring(window[0], window[1]);
        int at = window == null ? -1 : name.startsWith("r") ? in.lastIndexOf(sub) : in.indexOf(sub);
        if (at < 0 && name.endsWith("index")) {
            throw new TemplateFailure("substring not found");
        }
        return at < 0 ? -1L : (long) s.codePointCount(0, window[0] + at);
    }

    private static long count(String s, Arguments args) {
        int[] window = window(s, args);
        String part = args.text(0, "sub").toString();
        if (window == null) {
            return 0;
        }
        String in = s.substring(window[0], window[1]);
        long n = part.isEmpty() ? in.codePointCount(0, in.length()) + 1L : 0;
        for (int at = in.indexOf(part); at >= 0 && !part.isEmpty(); at = in.indexOf(part, at + part.length())) {
            n++;
        }
        return n;
    }

    private static boolean affix(String s, Arguments args, boolean start) {
        int[] window = window(s, args);
        Object affix = args.need(0, start ? "prefix" : "suffix");
        boolean found = false;
        for (Object one : affix instanceof Tuple any ? any : List.of(affix)) {
            String text = Text.need(one, "affix").toString();
            String in = window == null ? "" : s.substring(window[0], window[1]);
            found |= window != null && (start ? in.startsWith(text) : in.endsWith(text));
        }
        return found;
    }

    private static Object partition(Text text, Text separator, boolean last) {
        String s = text.toString();
        String by = separator.toString();
        if (by.isEmpty()) {
            throw new TemplateFailure("empty separator");
        }
        int at = last ? s.lastIndexOf(by) : s.indexOf(by);
        if (at < 0) {
            return last ? Tuple.of(Text.EMPTY, Text.EMPTY, text) : Tuple.of(text, Text.EMPTY, Text.EMPTY);
        }
        int end = at + by.length();
        return Tuple.of(text.substring(0, at), text.substring(at, end), text.substring(end));
    }

    /// {@return a text with a width, filled on both sides or on one}
    static Text pad(Budget budget, Text text, int width, Text fill, String name) {
        if (fill.length() != 1) {
            throw new TemplateFailure("The fill character must be exactly one character long");
        }
        int missing = Math.max(0, width - text.length());
        budget.string((long) missing + text.toString().length());
        int before = switch (name) {
            case "ljust" -> 0;
            case "rjust" -> missing;
            default -> missing / 2 + (missing & width & 1);
        };
        return fill.repeat(before).concat(text).concat(fill.repeat(missing - before));
    }

    private static Text zfill(Budget budget, Text text, int width) {
        String s = text.toString();
        int sign = s.startsWith("-") || s.startsWith("+") ? 1 : 0;
        Text zeros = pad(budget, Text.EMPTY, Math.max(0, width - text.length()), Text.of("0"), "ljust");
        return text.substring(0, sign).concat(zeros).concat(text.substring(sign));
    }

    private static Text expanded(Budget budget, Text text, int size) {
        String s = text.toString();
        TextBuilder out = new TextBuilder();
        int column = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '\t') {
                int blanks = size > 0 ? size - column % size : 0;
                budget.string(blanks);
                out.append(" ".repeat(blanks), text, i);
                column += blanks;
            } else {
                out.append(text, i, i + 1);
                column = c == '\n' || c == '\r' ? 0 : Character.isLowSurrogate(c) ? column : column + 1;
            }
        }
        return out.toText();
    }
}
