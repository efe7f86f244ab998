package dev.tenon;

import dev.tenon.itest.testkit.models.ScriptedSampler;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/// The embedded model.
final class Story {
    static final Path FILE = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private Story() {}

    static Model load() {
        return Tenon.model(FILE.toString()).contextLength(1024).load();
    }

    /// {@return the request, whose generations give these replies one after the other}
    static TextRequest scripted(Model model, TextRequest request, String... replies) {
        Deque<String> left = new ArrayDeque<>(List.of(replies));
        ScriptedSampler sampler =
                new ScriptedSampler(model.loaded().tokenizer(), "<|im_end|>", prompt -> Optional.of(left.remove()));
        return request.settings(settings -> settings.sampler(sampler));
    }
}
