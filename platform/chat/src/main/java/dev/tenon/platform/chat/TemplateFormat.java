package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.text.ChatTemplate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How a model writes what is not plain answer, and what its template takes.
///
/// @param reply how it writes calls and reasoning
/// @param takesTools whether its template writes the tools into the prompt
/// @param takesCalls whether its template writes calls and their results
public record TemplateFormat(ReplyFormat reply, boolean takesTools, boolean takesCalls) {
    private static final List<Reasoning> REASONING = List.of(
            new Reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
            new Reasoning("[THINK]", "[/THINK]"),
            new Reasoning("<|channel>thought", "<channel|>"),
            new Reasoning("<seed:think>", "</seed:think>"),
            new Reasoning("<think>", "</think>", "<response>", "</response>"), // ERNIE 4.5
            new Reasoning("<think>", "</think>", "<answer>", "</answer>")); // Hunyuan

    private static final Logger LOG = LoggerFactory.getLogger(TemplateFormat.class);

    /// That of texts, which have no calls and no reasoning.
    public static final TemplateFormat PLAIN = of("", Optional.empty());

    /// {@return this format if the template writes calls in it, or none; else one that leaves calls out of the
    /// template}
    ///
    /// @param template the template
    /// @param variables what it needs beside messages and tools
    /// @param model name of the model, for the log
    TemplateFormat checked(ChatTemplate template, Map<String, Object> variables, String model) {
        if (!takesCalls || CallCheck.comesBack(this, template, variables)) {
            return this;
        }
        LOG.warn(
                "A call that the template of {} writes is not read back in the format that begins with {}: its tools"
                        + " are told as instructions, and calls are asked for in <tool_call> tags",
                model,
                calls().marks().getFirst());
        return asked();
    }

    /// {@return this format, of a template that lists the tools whatever format of calls it shows}
    TemplateFormat listingTools() {
        return new TemplateFormat(reply, true, takesCalls);
    }

    /// {@return a format of calls that the model is asked for in a system message}
    TemplateFormat asked() {
        return new TemplateFormat(new ReplyFormat(KnownFormat.TAGGED.calls(), reply.reasoning()), false, false);
    }

    /// {@return the format that a template shows}
    ///
    /// @param template its source
    /// @param offered how a bundle says that a model with this template writes; empty if none does
    static TemplateFormat of(String template, Optional<ReplyFormat> offered) {
        Optional<CallFormat> calls = offered.map(ReplyFormat::calls).or(() -> KnownFormat.of(template));
        Reasoning reasoning = offered.map(ReplyFormat::reasoning).orElseGet(() -> reasoning(template));
        return new TemplateFormat(
                new ReplyFormat(calls.orElse(KnownFormat.TAGGED.calls()), reasoning),
                calls.isPresent() && template.contains("tools"),
                calls.isPresent() && template.contains("tool_calls"));
    }

    private static Reasoning reasoning(String template) {
        return REASONING.stream()
                .filter(each -> template.contains(each.open())
                        && template.contains(each.answerOpen())
                        && template.contains(each.answerClose()))
                .findFirst()
                .orElse(Reasoning.THINK);
    }

    /// {@return how it writes calls}
    CallFormat calls() {
        return reply.calls();
    }

    /// {@return what begins its reasoning}
    String think() {
        return reply.reasoning().open();
    }

    /// {@return what ends it}
    String thought() {
        return reply.reasoning().close();
    }

    /// {@return whether a reply begins inside its reasoning}
    ///
    /// @param prompt the prompt
    public boolean thinks(String prompt) {
        return prompt.stripTrailing().endsWith(think());
    }
}
