package dev.tenon.itest.framework;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/// Runs in a JVM of its own: generates with a model, changes its file, generates with it and with another model
/// again, and prints how that went.
final class ChangingFiles {
    /// Enough that kernels are compiled.
    private static final int WARM = 150;

    private static final int TOKENS = 20;

    private ChangingFiles() {}

    /// Changes a model that is in use.
    ///
    /// @param args the model's file, another model's, and the change: `truncate`, `overwrite` or `replace`
    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(LoadRequest.of(path));
                LoadedModel other = engine.load(LoadRequest.of(Path.of(args[1])));
                Session session = model.newSession();
                Session neighbour = other.newSession()) {
            report("before", model, session, WARM);
            change(path, args[2]);
            report("after", model, session, TOKENS);
            report("again", model, session, TOKENS);
            report("other", other, neighbour, TOKENS);
        }
    }

    private static void report(String when, LoadedModel model, Session session, int tokens) {
        try {
            int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
            int[] texts = new int[1];
            session.generate(GenerationRequest.of(prompt, SamplingParams.greedy(), tokens), text -> texts[0]++);
            System.out.println(when + " " + (texts[0] > 0 ? "generated" : "nothing"));
        } catch (TenonException e) {
            System.out.println(when + " " + e.code());
        }
    }

    private static void change(Path path, String how) throws IOException {
        switch (how) {
            case "truncate" -> {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.setLength(4096);
                }
            }
            case "overwrite" -> {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.seek(file.length() / 2);
                    file.write(new byte[1 << 20]);
                }
            }
            case "replace" -> {
                Path next = Files.write(path.resolveSibling("next"), new byte[4096]);
                Files.move(next, path, StandardCopyOption.REPLACE_EXISTING);
            }
            default -> throw new IllegalArgumentException(how);
        }
    }
}
