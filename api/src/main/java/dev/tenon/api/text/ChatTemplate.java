package dev.tenon.api.text;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    String render(Map<String, Object> variables);

    /// Renders a conversation of plain messages.
    ///
    /// @param messages the turns, oldest first
    /// @param addGenerationPrompt whether to open the assistant's next turn
    /// @param extra more variables, such as `bos_token`, or an empty map
    /// @return the prompt
    default String render(List<ChatMessage> messages, boolean addGenerationPrompt, Map<String, Object> extra) {
        Map<String, Object> variables = new LinkedHashMap<>(extra);
        variables.put(
                "messages",
                messages.stream()
                        .map(m -> {
                            Map<String, Object> turn = new LinkedHashMap<>();
                            turn.put("role", m.role());
                            turn.put("content", m.content());
                            return turn;
                        })
                        .toList());
        variables.put("add_generation_prompt", addGenerationPrompt);
        return render(variables);
    }
}
