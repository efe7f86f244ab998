package dev.tenon.api.chat;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// Knows how models write calls of tools and reasoning that Tenon does not know itself. Asked,
/// before Tenon's own formats and in the order of the ids, when a chat template of a model is first
/// used; the model keeps the answer. Safe for any thread.
///
/// A call goes through the template before a format is used: if it is not read back, tools are told
/// as instructions. What is thrown is logged, and the next one asked.
@ConsumerType
public interface ReplyFormatProvider {
    /// {@return the id, by which a setting names this one where several bundles have it: lower-case
    /// letters, digits and dashes}
    String id();

    /// Tells how a model writes.
    ///
    /// @param template source of its chat template, in Jinja; never null
    /// @return what a model with this template writes; empty for templates of other models
    Optional<ReplyFormat> format(String template);
}
