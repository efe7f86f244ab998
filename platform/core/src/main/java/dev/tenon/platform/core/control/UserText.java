package dev.tenon.platform.core.control;

import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.TemplateText;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.IntStream;

/// Keeps texts of users from forging control tokens: no control token is read that has a
/// character of theirs, whatever a template made of their texts. Immutable.
public final class UserText {
    /// What a message's `role` may be and still count as the template's own word: templates make
    /// control tokens of it.
    private static final Set<String> ROLES = Set.of("system", "developer", "user", "assistant", "tool", "function");

    /// The control tokens of a vocabulary by their first char.
    private static final Map<Tokenizer, Map<Character, List<String>>> CONTROLS =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final Map<Character, List<String>> controls;

    /// Makes one for a vocabulary.
    ///
    /// @param tokenizer knows the control tokens
    public UserText(Tokenizer tokenizer) {
        this.controls = CONTROLS.computeIfAbsent(tokenizer, UserText::controls);
    }

    private static Map<Character, List<String>> controls(Tokenizer tokenizer) {
        Map<Character, List<String>> controls = new LinkedHashMap<>();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            String piece = tokenizer.isControl(id) ? tokenizer.piece(id) : "";
            if (piece.length() > 1) {
                controls.computeIfAbsent(piece.charAt(0), first -> new ArrayList<>())
                        .add(piece);
            }
        }
        return controls;
    }

    /// {@return a value for a template, with all its texts the users'}
    ///
    /// @param value text, list or map; all else stays as it is, as do texts that say already
    ///     whose they are, and the roles of messages
    public Object mark(Object value) {
        return switch (value) {
            case String text -> TemplateText.ofClient(text);
            case List<?> list -> {
                List<Object> all = new ArrayList<>(list.size());
                list.forEach(each -> all.add(mark(each)));
                yield all;
            }
            case Map<?, ?> map -> {
                Map<Object, Object> all = new LinkedHashMap<>();
                map.forEach((key, each) -> {
                    boolean role = "role".equals(key) && each instanceof String name && ROLES.contains(name);
                    all.put(mark(key), role ? each : mark(each));
                });
                yield all;
            }
            case null, default -> value;
        };
    }

    /// {@return parts one after the other: texts that say whose they are, and strings of our own}
    ///
    /// @param parts [String] or [TemplateText]
    public static TemplateText join(Object... parts) {
        StringBuilder text = new StringBuilder();
        BitSet client = new BitSet();
        for (Object part : parts) {
            int[] theirs = part instanceof TemplateText of ? of.client() : new int[0];
            for (int i = 0; i < theirs.length; i += 2) {
                client.set(text.length() + theirs[i], text.length() + theirs[i + 1]);
            }
            text.append(part);
        }
        return TemplateText.of(text.toString(), client);
    }

    /// A prompt.
    ///
    /// @param text its text
    /// @param borders ascending, as [Tokenizer#encode(String, boolean, int[])] takes them: no
    ///     control token spans one
    public record Plain(String text, int[] borders) {
        /// {@return whether the text begins with a control token that is read}
        ///
        /// @param token its text, which may be empty for none
        public boolean beginsWith(String token) {
            boolean whole = borders.length == 0 || borders[0] >= token.length();
            return !token.isEmpty() && text.startsWith(token) && whole;
        }

        /// {@return the rest of the text}
        ///
        /// @param at index of its first char
        public Plain from(int at) {
            return new Plain(
                    text.substring(at),
                    Arrays.stream(borders).filter(b -> b > at).map(b -> b - at).toArray());
        }

        /// {@return the beginning of the text}
        ///
        /// @param end index of the char after its last
        public Plain to(int end) {
            return new Plain(
                    text.substring(0, end),
                    Arrays.stream(borders).filter(b -> b < end).toArray());
        }
    }

    /// {@return what a template makes of variables}
    ///
    /// @param template the template
    /// @param variables its variables, those of users marked
    public Plain render(ChatTemplate template, Map<String, Object> variables) {
        return plain(template.renderText(variables));
    }

    /// {@return a text with a border within each control token that has a character of the
    ///     users'}
    ///
    /// @param rendered the text
    public Plain plain(TemplateText rendered) {
        String text = rendered.text();
        int[] client = rendered.client();
        IntStream.Builder borders = IntStream.builder();
        int last = 0;
        int next = 0; // index of the end of the first part of the users' that ends after the place
        for (int at = 0; next < client.length && at < text.length(); at++) {
            next += client[next + 1] <= at ? 2 : 0;
            if (next < client.length && reaches(text, at, client[next])) {
                int border = Math.max(at + 1, client[next]);
                if (border > last) {
                    borders.add(border);
                    last = border;
                }
            }
        }
        return new Plain(text, borders.build().toArray());
    }

    /// {@return whether a control token stands at a place and ends after another}
    private boolean reaches(String text, int at, int past) {
        for (String piece : controls.getOrDefault(text.charAt(at), List.of())) {
            if (at + piece.length() > past && text.startsWith(piece, at)) {
                return true;
            }
        }
        return false;
    }
}
