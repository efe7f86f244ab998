package dev.tenon.itest.framework;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.Map;

/// Runs in a JVM of its own: a program that prints five tokens of a story.
final class EmbeddedProgram {
    private EmbeddedProgram() {}

    /// Runs a model.
    ///
    /// @param args the model's file
    public static void main(String[] args) {
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(LoadRequest.of(Path.of(args[0])));
                Session session = model.newSession()) {
            int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
            session.generate(
                    GenerationRequest.of(prompt, SamplingParams.defaults(), 5),
                    text -> System.out.println("token " + text));
        }
    }
}
