package dev.tenon.platform.cli.internal;

import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.bundles.BundlesCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// Runs command lines in the test, with all commands and a fake engine.
final class TestCli {
    final FakeEngine engine = new FakeEngine();
    final Map<String, String> settings = new LinkedHashMap<>();
    /// Whether the process is ending.
    boolean ending;
    final List<String> made = new ArrayList<>();
    final List<CommandSource> sources = new ArrayList<>();
    final Path model;
    byte[] stdin = {};
    boolean inTerminal;
    boolean errTerminal;

    TestCli(Path folder) {
        model = folder.resolve("story.gguf");
        try {
            Files.writeString(model, "fake");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        settings.put("model", model.toString());
        settings.put("models", folder.resolve("models").toString());
        add("run", () -> {
            RunCommand command = new RunCommand();
            command.engine = engine;
            return command;
        });
        add("chat", () -> {
            ChatCommand command = new ChatCommand();
            command.engine = engine;
            return command;
        });
        add("inspect", () -> {
            InspectCommand command = new InspectCommand();
            command.engine = engine;
            return command;
        });
        add("devices", () -> {
            DevicesCommand command = new DevicesCommand();
            command.engine = engine;
            return command;
        });
        add("bundles", BundlesCommand::new);
        add("doctor", () -> {
            DoctorCommand command = new DoctorCommand();
            command.engine = engine;
            return command;
        });
        add("perplexity", () -> {
            PerplexityCommand command = new PerplexityCommand();
            command.engine = engine;
            return command;
        });
        add("logits", () -> {
            LogitsCommand command = new LogitsCommand();
            command.engine = engine;
            return command;
        });
        add("quantize", () -> {
            QuantizeCommand command = new QuantizeCommand();
            command.engine = engine;
            return command;
        });
        add("tokenize", () -> {
            TokenizeCommand command = new TokenizeCommand();
            command.engine = engine;
            return command;
        });
        add("synth", () -> {
            SynthCommand command = new SynthCommand();
            command.engine = engine;
            return command;
        });
        add("pull", () -> {
            PullCommand command = new PullCommand();
            command.pause = java.time.Duration.ofMillis(5);
            return command;
        });
    }

    void add(String name, Supplier<TenonCommand> maker) {
        sources.add(new CommandSource() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String origin() {
                return "the test";
            }

            @Override
            public TenonCommand create() {
                made.add(name);
                return maker.get();
            }

            @Override
            public void release(TenonCommand command) {
                made.remove(name);
            }
        });
    }

    Result run(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Streams streams = Streams.of(new ByteArrayInputStream(stdin), out, err, inTerminal, false, errTerminal);
        int status = new Cli(sources, streams, settings::get, "1.2.3", () -> ending).execute(args);
        return new Result(status, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
    }

    /// What a command did.
    record Result(int status, byte[] bytes, String err) {
        String out() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        long errLines() {
            return err.lines().count();
        }
    }
}
