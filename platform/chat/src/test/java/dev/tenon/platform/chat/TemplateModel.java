package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.core.control.Definitions;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;

/// A model whose file has other templates.
final class TemplateModel {
    private TemplateModel() {}

    /// {@return how a model chats whose file has these templates}
    ///
    /// @param model the model
    /// @param sources the templates by their names; the one without a name is the model's own
    static ChatModel chat(LoadedModel model, Map<String, String> sources) {
        Map<String, ChatTemplate> compiled = new HashMap<>();
        ChatTemplateEngine engine =
                ServiceLoader.load(ChatTemplateEngine.class).findFirst().orElseThrow();
        sources.forEach((name, source) -> compiled.put(name, engine.compile(source)));
        Map<String, GgufValue> values =
                new LinkedHashMap<>(model.file().metadata().values());
        values.remove(Definitions.TEMPLATE); // the model gives it, not the file
        sources.forEach((name, source) -> {
            if (!name.isEmpty()) {
                values.put(Definitions.TEMPLATE + "." + name, GgufValue.of(source));
            }
        });
        GgufMetadata metadata = GgufMetadata.of("other templates", values);
        GgufFile file = proxy(GgufFile.class, model.file(), (name, args) -> name.equals("metadata") ? metadata : null);
        LoadedModel with = proxy(LoadedModel.class, model, (name, args) -> switch (name) {
            case "file" -> file;
            case "chatTemplateSource" -> Optional.ofNullable(sources.get(""));
            case "chatTemplate" -> Optional.ofNullable(compiled.get(args == null ? "" : args[0].toString()));
            default -> null;
        });
        return new TenonChats().chat(with);
    }

    private interface Answers {
        /// {@return what a method returns; null for what the original does}
        Object to(String method, Object[] args);
    }

    private static <T> T proxy(Class<T> type, T original, Answers answers) {
        return type.cast(Proxy.newProxyInstance(
                TemplateModel.class.getClassLoader(), original.getClass().getInterfaces(), (proxy, method, args) -> {
                    Object own = answers.to(method.getName(), args);
                    return own == null ? method.invoke(original, args) : own;
                }));
    }
}
