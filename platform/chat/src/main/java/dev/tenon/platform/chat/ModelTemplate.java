package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.UserText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/// A chat template of a model, and what is known of it. Safe for any thread.
final class ModelTemplate {
    private final ChatTemplate compiled;
    private final String source;
    private final String bos;
    private final String eos;
    private final UserText user;
    private final TemplateFormat format;
    private CallIds ids;

    /// @param format how the model writes
    ModelTemplate(ChatTemplate compiled, String source, Tokenizer tokenizer, TemplateFormat format) {
        this.compiled = compiled;
        this.source = source;
        this.bos = piece(tokenizer, tokenizer.bos());
        this.eos = piece(tokenizer, tokenizer.eos());
        this.user = new UserText(tokenizer);
        this.format = format;
    }

    /// {@return what is known of a template of a model, after it has written a call}
    ///
    /// @param source its source
    /// @param forTools whether the file says that it is for tools, so that it lists them
    static ModelTemplate of(LoadedModel model, ChatTemplate compiled, String source, boolean forTools) {
        Tokenizer tokenizer = model.tokenizer();
        Map<String, Object> variables =
                Map.of("bos_token", piece(tokenizer, tokenizer.bos()), "eos_token", piece(tokenizer, tokenizer.eos()));
        String name = model.file().metadata().string("general.name").orElse("the model");
        TemplateFormat shown = TemplateFormat.of(source, OfferedFormats.of(model, source));
        TemplateFormat format = (forTools ? shown.listingTools() : shown).checked(compiled, variables, name);
        return new ModelTemplate(compiled, source, tokenizer, format);
    }

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }

    ChatTemplate compiled() {
        return compiled;
    }

    String source() {
        return source;
    }

    /// {@return the text of the token that begins a text; empty if there is none}
    String bos() {
        return bos;
    }

    /// {@return what marks texts of users for it}
    UserText user() {
        return user;
    }

    /// {@return how the model writes}
    TemplateFormat format() {
        return format;
    }

    /// {@return which ids of calls the template takes, as two renderings of a call tell}
    synchronized CallIds ids() {
        if (ids == null) {
            ids = !renders(CallIds.ANY) && renders(CallIds.NINE) ? CallIds.NINE : CallIds.ANY;
        }
        return ids;
    }

    private boolean renders(CallIds kind) {
        ToolCall call = new ToolCall(kind.fresh(), "f", "{}");
        List<ChatTurn> turns = List.of(ChatTurn.user("a"), ChatTurn.assistant("", call), ChatTurn.result(call, "b"));
        Map<String, Object> variables = new LinkedHashMap<>();
        variables.put("tools", TemplateValues.tools(List.of(new Tool("f", "", null))));
        try {
            render(variables, TemplateValues.turns(turns, CallIds.ANY), true);
            return true;
        } catch (ModelFormatException e) {
            return false; // what the template refuses is what is asked here
        }
    }

    /// Renders a conversation; again with the arguments of calls as text, where the template fails to take objects.
    ///
    /// @param variables further variables, marked; those of the template itself are added
    /// @param messages the turns, not marked
    /// @param answered whether the assistant's next turn begins
    /// @return the prompt
    UserText.Plain render(Map<String, Object> variables, List<Map<String, Object>> messages, boolean answered) {
        variables.put("bos_token", bos);
        variables.put("eos_token", eos);
        variables.put("add_generation_prompt", answered);
        variables.put("messages", user.mark(messages));
        try {
            return user.render(compiled, variables);
        } catch (ModelFormatException e) {
            if (messages.stream().noneMatch(message -> message.containsKey("tool_calls"))) {
                throw e;
            }
            variables.put(
                    "messages",
                    user.mark(messages.stream().map(ModelTemplate::withText).toList()));
            try {
                return user.render(compiled, variables);
            } catch (ModelFormatException again) {
                e.addSuppressed(again);
                throw e;
            }
        }
    }

    private static Map<String, Object> withText(Map<String, Object> message) {
        if (!(message.get("tool_calls") instanceof List<?> calls)) {
            return message;
        }
        List<Object> changed = new ArrayList<>();
        for (Object call : calls) {
            Map<String, Object> with = TemplateValues.copy(call);
            Map<String, Object> function = TemplateValues.copy(with.get("function"));
            function.computeIfPresent("arguments", (key, value) -> value instanceof String ? value : Json.text(value));
            with.put("function", function);
            changed.add(with);
        }
        Map<String, Object> with = TemplateValues.copy(message);
        with.put("tool_calls", changed);
        return with;
    }
}
