package dev.tenon.itest.framework;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.StandaloneEngine.InstalledBundle;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/// Runs in a JVM of its own, without an architecture for its model: installs, replaces and removes one. Of the
/// thread's class loader no provider can be found.
final class InstallingProgram {
    private static InstalledBundle bundle;

    private InstallingProgram() {}

    /// Runs the program.
    ///
    /// @param args the model's file, the bundle, another version of it
    public static void main(String[] args) {
        Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
        LoadRequest request = LoadRequest.of(Path.of(args[0]));
        Path jar = Path.of(args[1]);
        try (StandaloneEngine engine = StandaloneEngine.create(Map.of("move.timeout.ms", "0"))) {
            System.out.println("program without it: " + refused(() -> engine.load(request)));
            bundle = engine.install(jar);
            try (LoadedModel model = engine.load(request);
                    Session session = model.newSession()) {
                System.out.println("text " + tell(model, 40, () -> {}));
                System.out.println("text " + tell(model, 40, () -> bundle = bundle.replace(Path.of(args[2]))));
                System.out.println("text " + tell(model, 40, () -> {}));
                System.out.println("program a second one: " + refused(() -> engine.install(jar)));
                int[] prompt = model.tokenizer().encode("Once", true, false);
                session.generate(GenerationRequest.of(prompt, SamplingParams.greedy(), 5), text -> {});
                bundle.remove();
                GenerationRequest more = GenerationRequest.of(prompt, SamplingParams.greedy(), 5);
                System.out.println("program removed: " + refused(() -> session.generate(more, text -> {})));
                engine.install(jar);
                session.truncate(0);
                System.out.println(
                        "program again: " + session.generate(more, text -> {}).generatedTokens() + " tokens");
            }
        }
    }

    private static String refused(Supplier<?> call) {
        try {
            return "no refusal, but " + call.get();
        } catch (TenonException e) {
            return e.code();
        }
    }

    /// {@return what a new session tells}
    ///
    /// @param inTheMiddle runs after some tokens
    private static String tell(LoadedModel model, int count, Runnable inTheMiddle) {
        StringBuilder told = new StringBuilder();
        try (Session session = model.newSession()) {
            int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
            session.generate(GenerationRequest.of(prompt, SamplingParams.greedy(), count), new GenerationListener() {
                private int tokens;

                @Override
                public void onText(String text) {
                    told.append(text.replace('\n', ' '));
                }

                @Override
                public void onToken(GeneratedToken token) {
                    if (++tokens == 5) {
                        inTheMiddle.run();
                    }
                }

                @Override
                public void onMoved(String reason) {
                    System.out.println("moved " + reason);
                }
            });
        }
        return told.toString();
    }
}
