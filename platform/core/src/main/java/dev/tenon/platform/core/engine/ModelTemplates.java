package dev.tenon.platform.core.engine;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The chat templates of a model, compiled when they are first used. Safe for any thread.
final class ModelTemplates {
    private final GgufFile file;
    private final String architecture;
    private final ServiceRegistry registry;
    /// By their keys.
    private final Map<String, Optional<ChatTemplate>> compiled = new HashMap<>();

    /// @param file the model; borrowed
    /// @param architecture its id
    /// @param registry what is installed
    ModelTemplates(GgufFile file, String architecture, ServiceRegistry registry) {
        this.file = file;
        this.architecture = architecture;
        this.registry = registry;
    }

    /// {@return the text of a template: one that the architecture gives takes the place of all that the file has}
    ///
    /// @param key in the file's metadata
    Optional<String> source(String key) {
        GgufMetadata metadata = file.metadata();
        Optional<String> given = Definitions.givenTemplate(
                registry.architecture(architecture).stream().toList(), metadata);
        return given.isPresent() && !key.equals(Definitions.TEMPLATE)
                ? Optional.empty()
                : given.or(() -> metadata.string(key));
    }

    /// {@return a template}
    ///
    /// @param key in the file's metadata
    synchronized Optional<ChatTemplate> template(String key) {
        Optional<ChatTemplate> known = compiled.get(key);
        if (known == null) {
            known = source(key).map(this::compile);
            compiled.put(key, known);
        }
        return known;
    }

    /// Has templates compiled again when they are next used: what gave or compiled them may have gone.
    synchronized void forget() {
        compiled.clear();
    }

    private ChatTemplate compile(String source) {
        return registry.templateEngine()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.MODEL_TEMPLATE,
                        file.path().getFileName() + " has a chat template, and nothing installed compiles it; add"
                                + " tenon-platform-templates"))
                .compile(source);
    }
}
