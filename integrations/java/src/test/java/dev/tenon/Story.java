package dev.tenon;

import java.nio.file.Path;

/// The embedded model.
final class Story {
    static final Path FILE = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private Story() {}

    static Model load() {
        return Tenon.model(FILE.toString()).contextLength(1024).load();
    }
}
