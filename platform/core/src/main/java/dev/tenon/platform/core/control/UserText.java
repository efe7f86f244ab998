package dev.tenon.platform.core.control;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/// Keeps texts of users from forging control tokens: where one may begin in such a text, a mark is
/// put after its first character before the template runs. Whatever the template makes of the text,
/// no token may span a mark, and the marks are taken out. For one conversation and one thread.
///
/// The mark is a letter that no text of the conversation has: templates leave letters alone.
public final class UserText {
    /// Yi syllables: letters without case that are rarely written.
    private static final int FIRST_MARK = 0xA000;

    private static final int LAST_MARK = 0xA48C;
    private static final Map<Tokenizer, Set<String>> BEGINNINGS = Collections.synchronizedMap(new WeakHashMap<>());

    private final Set<String> beginnings;
    private final BitSet used = new BitSet();
    private final char mark;
    private boolean marked;

    /// @param tokenizer knows the control tokens
    /// @param template the template's source, whose letters are no marks
    /// @param input texts, lists and maps of the conversation
    /// @throws TenonException (`STATE-002`) if no letter is left
    public UserText(Tokenizer tokenizer, String template, Object... input) {
        this.beginnings = BEGINNINGS.computeIfAbsent(tokenizer, UserText::beginnings);
        note(template);
        for (Object each : input) {
            note(each);
        }
        int free = used.nextClearBit(FIRST_MARK);
        if (free > LAST_MARK) {
            throw new TenonException(ErrorCode.ARGUMENT, "The texts have all letters of the Yi script. Leave one out.");
        }
        mark = (char) free;
    }

    /// The first two characters of each control token, and the first one alone, which may end a text.
    private static Set<String> beginnings(Tokenizer tokenizer) {
        Set<String> beginnings = new HashSet<>();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            String piece = tokenizer.isControl(id) ? tokenizer.piece(id) : "";
            if (piece.length() > 1) {
                beginnings.add(piece.substring(0, 2));
                beginnings.add(piece.substring(0, 1));
            }
        }
        return Set.copyOf(beginnings);
    }

    private void note(Object value) {
        switch (value) {
            case String text ->
                text.chars().filter(c -> c >= FIRST_MARK && c <= LAST_MARK).forEach(used::set);
            case List<?> list -> list.forEach(this::note);
            case Map<?, ?> map ->
                map.forEach((key, each) -> {
                    note(key);
                    note(each);
                });
            case null, default -> {} // numbers and the like
        }
    }

    /// {@return a value with its texts marked}
    ///
    /// @param value text, list or map; all else stays as it is
    public Object mark(Object value) {
        return switch (value) {
            case String text -> mark(text);
            case List<?> list -> {
                List<Object> all = new ArrayList<>(list.size());
                list.forEach(each -> all.add(mark(each)));
                yield all;
            }
            case Map<?, ?> map -> {
                Map<String, Object> all = new LinkedHashMap<>();
                map.forEach((key, each) -> all.put(mark((String) key), mark(each)));
                yield all;
            }
            case null, default -> value;
        };
    }

    /// {@return a text with marks}
    ///
    /// @param text the text
    public String mark(String text) {
        StringBuilder out = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); i++) {
            out.append(text.charAt(i));
            if (beginnings.contains(text.substring(i, Math.min(text.length(), i + 2)))) {
                out.append(mark);
                marked = true;
            }
        }
        return out.length() == text.length() ? text : out.toString();
    }

    /// A text without marks.
    ///
    /// @param text the text
    /// @param borders where the marks were, ascending: no control token spans one
    public record Plain(String text, int[] borders) {
        /// {@return the rest of the text}
        ///
        /// @param at index of its first char
        public Plain from(int at) {
            return new Plain(
                    text.substring(at),
                    Arrays.stream(borders).filter(b -> b > at).map(b -> b - at).toArray());
        }
    }

    /// {@return what a template wrote, without marks}
    ///
    /// @param text the text
    public Plain plain(String text) {
        if (!marked) {
            return new Plain(text, new int[0]);
        }
        StringBuilder out = new StringBuilder(text.length());
        List<Integer> borders = new ArrayList<>();
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == mark) {
                borders.add(out.length());
            } else {
                out.append(text.charAt(i));
            }
        }
        return new Plain(
                out.toString(), borders.stream().mapToInt(Integer::intValue).toArray());
    }
}
