package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Compiles chat templates (Jinja as Hugging Face's `transformers` renders it). The platform has one, of rank 0; a
/// bundle puts another in its place by a higher service ranking, as a [SamplerProvider] does. Safe for any thread.
@ConsumerType
public interface ChatTemplateEngine {
    /// Compiles a template.
    ///
    /// @param source the template's text, from `tokenizer.chat_template`
    /// @return the template
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-009`) if it does not parse
    ChatTemplate compile(String source);
}
