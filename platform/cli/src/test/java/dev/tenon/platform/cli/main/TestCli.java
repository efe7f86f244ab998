package dev.tenon.platform.cli.main;

import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.chat.ChatCommand;
import dev.tenon.platform.cli.chat.RunCommand;
import dev.tenon.platform.cli.chat.TestTerminals;
import dev.tenon.platform.cli.doctor.DevicesCommand;
import dev.tenon.platform.cli.doctor.DoctorCommand;
import dev.tenon.platform.cli.doctor.ExplainCommand;
import dev.tenon.platform.cli.doctor.SelfCheckCommand;
import dev.tenon.platform.cli.model.EmbedCommand;
import dev.tenon.platform.cli.model.EncodeCommand;
import dev.tenon.platform.cli.model.InspectCommand;
import dev.tenon.platform.cli.model.LogitsCommand;
import dev.tenon.platform.cli.model.PerplexityCommand;
import dev.tenon.platform.cli.model.RerankCommand;
import dev.tenon.platform.cli.model.ShowCommand;
import dev.tenon.platform.cli.model.TokenizeCommand;
import dev.tenon.platform.cli.pull.CpCommand;
import dev.tenon.platform.cli.pull.ListCommand;
import dev.tenon.platform.cli.pull.PullCommand;
import dev.tenon.platform.cli.pull.RmCommand;
import dev.tenon.platform.cli.terminal.Streams;
import dev.tenon.platform.core.control.ModelRegistries;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Runs command lines in the test, with all commands and a fake engine.
public final class TestCli {
    public final FakeEngine engine = new FakeEngine();
    /// The run that the next command line is.
    Runs.Run current = new Runs().first();
    /// The registries that bundles offer.
    public ModelRegistries registries = ModelRegistries.of(null);
    /// Whether commands get the engine.
    boolean withEngine = true;
    public final Map<String, String> settings = new LinkedHashMap<>();
    /// Whether the process is ending.
    public boolean ending;
    public final List<String> made = new ArrayList<>();
    public final List<CommandSource> sources = new ArrayList<>();
    public final Path model;
    public byte[] stdin = {};
    /// Before a second attempt of a download.
    public Duration pause = Duration.ofMillis(5);
    /// Hears what goes to standard error.
    public Consumer<String> onError = text -> {};
    /// How long a server may be silent.
    public Duration stall = Duration.ofSeconds(30);
    /// Standard output fails with this message, if there is one.
    public String outputFails;
    public boolean inTerminal;
    public boolean outTerminal;
    public boolean errTerminal;
    /// What the last command line had kept; null if nothing.
    public Result kept;
    /// What is typed in a chat on a terminal, at each prompt.
    public List<String> typed = List.of();

    public TestCli(Path folder) {
        model = folder.resolve("story.gguf");
        try {
            Files.writeString(model, "fake");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        settings.put("model", model.toString());
        settings.put("models", folder.resolve("models").toString());
        settings.put("chat.history", folder.resolve("history").toString());
        add("run", RunCommand::new);
        add("chat", ChatCommand::new);
        add("inspect", InspectCommand::new);
        add("devices", DevicesCommand::new);
        add("doctor", DoctorCommand::new);
        add("self-check", SelfCheckCommand::new);
        add("explain", ExplainCommand::new);
        add("perplexity", PerplexityCommand::new);
        add("logits", LogitsCommand::new);
        add("encode", EncodeCommand::new);
        add("tokenize", TokenizeCommand::new);
        add("embed", EmbedCommand::new);
        add("rerank", RerankCommand::new);
        add("pull", PullCommand::new);
        add("list", ListCommand::new);
        add("completion", CompletionCommand::new);
        add("show", ShowCommand::new);
        add("rm", RmCommand::new);
        add("cp", CpCommand::new);
    }

    /// Sets a field, as the component runtime does with references.
    private static void set(Object command, String field, Object value) {
        for (Field each : command.getClass().getDeclaredFields()) {
            if (each.getName().equals(field)) {
                try {
                    each.setAccessible(true);
                    each.set(command, value);
                } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    public void replace(String name, Supplier<TenonCommand> maker) {
        sources.removeIf(source -> source.name().equals(name));
        add(name, maker);
    }

    public void add(String name, Supplier<TenonCommand> maker) {
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
                TenonCommand command = maker.get();
                if (withEngine) {
                    set(command, "engine", engine);
                }
                set(command, "pause", pause);
                set(command, "stall", stall);
                TestTerminals.type(command, typed);
                return command;
            }

            @Override
            public void release(TenonCommand command) {
                made.remove(name);
            }
        });
    }

    public Result run(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        OutputStream stdout = outputFails == null
                ? out
                : new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException(outputFails);
                    }
                };
        OutputStream told = new FilterOutputStream(err) {
            @Override
            public void write(byte[] bytes, int offset, int length) {
                err.write(bytes, offset, length);
                onError.accept(new String(bytes, offset, length, StandardCharsets.UTF_8));
            }
        };
        Streams streams =
                Streams.of(new ByteArrayInputStream(stdin), stdout, told, inTerminal, outTerminal, errTerminal);
        kept = null;
        int status = new Cli(
                        sources,
                        streams,
                        settings::get,
                        () -> registries,
                        "1.2.3",
                        () -> ending,
                        current,
                        (code, text) -> kept = new Result(code, text.getBytes(StandardCharsets.UTF_8), ""))
                .execute(args);
        return new Result(status, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
    }

    /// What a command did.
    public record Result(int status, byte[] bytes, String err) {
        public String out() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        public long errLines() {
            return err.lines().count();
        }
    }
}
