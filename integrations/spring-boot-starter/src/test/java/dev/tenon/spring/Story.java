package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.TextRequest;
import dev.tenon.itest.testkit.models.ScriptedSampler;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/// The embedded model. It writes given replies where there are some, one for each generation.
final class Story implements TenonRequestCustomizer {
    static final String FILE = "../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf";
    static final String NAME = "story-qwen3-q4_k_m";
    static final Path ENCODERS = Path.of("../../itest/golden/src/test/resources/golden/models-more");
    static final String ENCODER = ENCODERS.resolve("bert.q8_0.gguf").toString();

    private final Deque<String> replies = new ArrayDeque<>();
    private final ScriptedSampler sampler;

    Story(Model model) {
        sampler =
                new ScriptedSampler(model.loaded().tokenizer(), "<|im_end|>", prompt -> Optional.of(replies.remove()));
    }

    static Model load() {
        return Tenon.model(FILE).contextLength(1024).load();
    }

    /// {@return the text of a call of a tool}
    static String call(String name, String arguments) {
        return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
    }

    /// Sets the replies of the next generations, in place of those that are left.
    void replies(String... texts) {
        replies.clear();
        replies.addAll(List.of(texts));
    }

    @Override
    public void customize(TextRequest request) {
        if (!replies.isEmpty()) {
            request.settings(settings -> settings.sampler(sampler));
        }
    }
}
