package dev.tenon.api.text;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.osgi.annotation.versioning.ConsumerType;

/// A model's own way to write a conversation as one prompt. Immutable and safe for any thread.
@ConsumerType
public interface ChatTemplate {
    /// Renders the template with variables.
    ///
    /// @param variables the template's variables, such as `messages`, `add_generation_prompt`,
    ///     `bos_token`, `tools`; values are strings, numbers, booleans, null, lists and maps with
    ///     string keys, whose order is kept
    /// @return the prompt; special tokens in it are meant as such
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-009`) if the template is broken or
    ///     refuses the conversation (`raise_exception`); its text holds the template's own message
    String render(Map<String, @Nullable Object> variables);

    /// Renders the template and tells which characters came from the client's values, whatever
    /// the template did to them: so that control tokens are read in what the template wrote, and
    /// are text in what the client did.
    ///
    /// Of a template that does not implement this, which renders strings, each place counts as the
    /// client's where a text of the client stands as it was, or without blanks around it. Texts of
    /// letters, digits and blanks alone, which write no control token, count as the template's, and
    /// so does what such a template cuts, replaces or escapes within a text.
    ///
    /// @param variables as for [#render(Map)]; strings among the values and keys may be
    ///     [TemplateText], of which the template sees the characters alone. What stands in a
    ///     plain [String] counts as the template's
    /// @return the prompt; a character that cannot be attributed counts as the client's
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-009`) as [#render(Map)] does
    default TemplateText renderText(Map<String, @Nullable Object> variables) {
        Set<String> texts = new LinkedHashSet<>();
        @SuppressWarnings("unchecked") // a map stays a map
        Map<String, @Nullable Object> plain = (Map<String, @Nullable Object>) plain(variables, texts);
        String text = render(plain);
        BitSet client = new BitSet();
        for (String each : texts) {
            String part = text.contains(each) ? each : each.strip();
            for (int at = text.indexOf(part); !part.isEmpty() && at >= 0; at = text.indexOf(part, at + part.length())) {
                client.set(at, at + part.length());
            }
        }
        return TemplateText.of(text, client);
    }

    private static @Nullable Object plain(@Nullable Object value, Set<String> texts) {
        return switch (value) {
            case TemplateText text -> {
                for (int i = 0; i < text.client().length; i += 2) {
                    String part = text.text().substring(text.client()[i], text.client()[i + 1]);
                    if (!part.chars().allMatch(c -> Character.isLetterOrDigit(c) || Character.isWhitespace(c))) {
                        texts.add(part);
                    }
                }
                yield text.text();
            }
            case Map<?, ?> map -> {
                Map<@Nullable Object, @Nullable Object> all = new LinkedHashMap<>();
                map.forEach((key, each) -> all.put(plain(key, texts), plain(each, texts)));
                yield all;
            }
            case List<?> list -> {
                List<@Nullable Object> all = new ArrayList<>();
                list.forEach(each -> all.add(plain(each, texts)));
                yield all;
            }
            case null, default -> value;
        };
    }

    /// Renders a conversation of plain messages.
    ///
    /// @param messages the turns, oldest first
    /// @param addGenerationPrompt whether to open the assistant's next turn
    /// @param extra more variables, such as `bos_token`, or an empty map
    /// @return the prompt
    default String render(
            List<ChatMessage> messages, boolean addGenerationPrompt, Map<String, @Nullable Object> extra) {
        Map<String, @Nullable Object> variables = new LinkedHashMap<>(extra);
        variables.put(
                "messages",
                messages.stream()
                        .map(m -> {
                            Map<String, @Nullable Object> turn = new LinkedHashMap<>();
                            turn.put("role", m.role());
                            turn.put("content", m.content());
                            return turn;
                        })
                        .toList());
        variables.put("add_generation_prompt", addGenerationPrompt);
        return render(variables);
    }
}
