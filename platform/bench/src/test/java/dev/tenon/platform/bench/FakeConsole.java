package dev.tenon.platform.bench;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Ranges;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine;

/// A console that keeps what is printed, as the root of a command line.
@CommandLine.Command(name = "tenon", version = "tenon 1.2.3")
public final class FakeConsole implements Console {
    final StringWriter text = new StringWriter();
    final StringWriter errors = new StringWriter();
    private final PrintWriter out = new PrintWriter(text);

    int run(FakeModel engine, String... args) {
        BenchCommand command = new BenchCommand();
        command.engine = engine;
        String[] all = new String[args.length + 1];
        all[0] = "bench";
        System.arraycopy(args, 0, all, 1, args.length);
        return new CommandLine(this)
                .addSubcommand(command)
                .setErr(new PrintWriter(errors, true))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(Ranges::run)
                .execute(all);
    }

    @Override
    public PrintWriter out() {
        return out;
    }

    @Override
    public OutputStream outBytes() {
        return OutputStream.nullOutputStream();
    }

    @Override
    public PrintWriter err() {
        return new PrintWriter(errors, true);
    }

    @Override
    public InputStream in() {
        return InputStream.nullInputStream();
    }

    @Override
    public boolean inIsTerminal() {
        return false;
    }

    @Override
    public boolean outIsTerminal() {
        return false;
    }

    @Override
    public boolean errIsTerminal() {
        return false;
    }

    @Override
    public boolean quiet() {
        return false;
    }

    @Override
    public String dim(String plain) {
        return plain;
    }

    @Override
    public void note(String line) {
        errors.append(line).append('\n');
    }

    @Override
    public Progress progress(String task, long total, String unit) {
        return new Progress() {
            @Override
            public void to(long done) {}

            @Override
            public void to(long done, long newTotal) {}

            @Override
            public void close() {}
        };
    }

    @Override
    public Interrupt onInterrupt(Runnable action) {
        throw new UnsupportedOperationException("bench does not watch for Ctrl-C");
    }

    @Override
    public Optional<String> setting(String key) {
        return Optional.empty();
    }

    @Override
    public Path model(String name) {
        return Path.of(name == null ? "default.gguf" : name);
    }

    @Override
    public LoadedModel load(Engine engine, LoadRequest request) {
        return engine.load(request);
    }
}
