package dev.tenon.platform.cli.main;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OneLine;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.config.UnknownVariables;
import dev.tenon.platform.cli.pull.PullCommand;
import dev.tenon.platform.cli.terminal.BarProgress;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.terminal.Colors;
import dev.tenon.platform.cli.terminal.InterruptWatch;
import dev.tenon.platform.cli.terminal.Streams;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.hub.ModelFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/// The command `tenon` itself, with the options that every command has; commands see it as [Console].
@Command(
        name = "tenon",
        description = "Runs GGUF language models inside the JVM.",
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon run \"Once upon a time\"",
            "  tenon run owner/repo \"Why is the sky blue?\"",
            "  tenon chat -m model.gguf",
            "  tenon COMMAND --help",
        })
final class RootCommand implements Console {
    private static final Progress SILENT = new Progress() {
        @Override
        public void to(long done) {}

        @Override
        public void to(long done, long total) {}

        @Override
        public void close() {}
    };

    private final Streams streams;
    private final UnaryOperator<String> settings;
    private final Supplier<ModelRegistries> registries;
    private final Colors colors;
    private final Runs.Run current;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            order = 1000,
            description = "Show this help and exit.")
    private boolean help;

    @Option(
            names = {"-q", "--quiet"},
            scope = ScopeType.INHERIT,
            order = 1001,
            description = "Print only results and errors.")
    private boolean quiet;

    @Option(
            names = "--no-color",
            scope = ScopeType.INHERIT,
            order = 1002,
            description = "Print without colours (also: NO_COLOR in the environment).")
    private boolean noColor;

    @Option(
            names = "--debug",
            scope = ScopeType.INHERIT,
            order = 1003,
            description = "Print the stack trace of an error (also: TENON_DEBUG=1).")
    private boolean debug;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean version;

    /// Creates the root.
    ///
    /// @param streams standard streams, and which are terminals
    /// @param settings looks up a setting by its key; null when it is not set
    /// @param registries finds those that there are; called when a model is meant that is not here
    /// @param colors whether to use colours
    /// @param current this run of the command
    RootCommand(
            Streams streams,
            UnaryOperator<String> settings,
            Supplier<ModelRegistries> registries,
            Colors colors,
            Runs.Run current) {
        this.streams = streams;
        this.settings = settings;
        this.registries = registries;
        this.colors = colors;
        this.current = current;
    }

    boolean debug() {
        return debug || "1".equals(settings.apply("debug")) || "true".equals(settings.apply("debug"));
    }

    @Override
    public PrintWriter out() {
        return streams.out();
    }

    @Override
    public PrintWriter styledOut() {
        return streams.styledOut();
    }

    @Override
    public OutputStream outBytes() {
        return streams.outBytes();
    }

    @Override
    public PrintWriter err() {
        return streams.err();
    }

    @Override
    public InputStream in() {
        return streams.in();
    }

    @Override
    public boolean inIsTerminal() {
        return streams.inTerminal();
    }

    @Override
    public boolean outIsTerminal() {
        return streams.outTerminal();
    }

    @Override
    public boolean errIsTerminal() {
        return streams.errTerminal();
    }

    @Override
    public boolean outHasColor() {
        return colors.on(streams.outTerminal());
    }

    @Override
    public boolean quiet() {
        return quiet;
    }

    @Override
    public String dim(String text) {
        return colors.on(streams.errTerminal()) ? "\u001b[2m" + text + "\u001b[0m" : text;
    }

    @Override
    public void note(String text) {
        if (!quiet) {
            streams.out().flush(); // what a remark is about comes first
            streams.styledErr().println(dim(OneLine.lines(text)));
            streams.err().flush();
        }
    }

    @Override
    public Progress progress(String task, long total, String unit) {
        if (quiet || !streams.errTerminal()) {
            return SILENT;
        }
        String columns = System.getenv("COLUMNS");
        int width = columns != null && columns.matches("[1-9]\\d{1,3}") ? Integer.parseInt(columns) - 1 : 79;
        return new BarProgress(
                OneLine.of(task),
                total,
                unit,
                new PrintStream(streams.errBytes(), true, StandardCharsets.UTF_8),
                width);
    }

    @Override
    public Interrupt onInterrupt(Runnable action) {
        return new InterruptWatch("INT", CliErrors.INTERRUPTED, action);
    }

    @Override
    public Interrupt onTermination(Runnable action) {
        return new InterruptWatch("TERM", CliErrors.TERMINATED, action);
    }

    @Override
    public Interrupt onReload(Runnable action) {
        return new InterruptWatch("HUP", 0, action);
    }

    @Override
    public void offer(Supplier<List<Object>> things) {
        current.offer(things);
    }

    @Override
    public List<Object> offered() {
        return current.offered();
    }

    @Override
    public boolean isSucceeded() {
        return current.isSucceeded();
    }

    @Override
    public Optional<String> setting(String key) {
        return Optional.ofNullable(settings.apply(key)).map(String::strip).filter(s -> !s.isEmpty());
    }

    @Override
    public ModelRegistries registries() {
        return registries.get();
    }

    @Override
    public Path model(String name) {
        if (name != null && name.isBlank()) {
            throw new TenonException(
                    ErrorCode.USAGE, "-m is empty. Name a model, or leave -m out to take the configured one.");
        }
        String wanted = name == null
                ? setting("model")
                        .orElseThrow(() -> new TenonException(
                                ErrorCode.USAGE,
                                "No model is given and none is configured. Give one with -m FILE, or set"
                                        + " TENON_MODEL."))
                : name;
        ModelFiles files = new ModelFiles(ModelFiles.folder(setting("models")));
        try {
            Optional<Path> there = files.isMissing(wanted) ? PullCommand.find(this, wanted) : Optional.empty();
            return there.isPresent() ? there.get() : files.find(wanted);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public LoadedModel load(Engine engine, LoadRequest request) {
        for (String variable : UnknownVariables.find(System.getenv().keySet(), engine)) {
            note("tenon: " + variable + " is set, but no setting has this name. 'tenon config' lists all settings.");
        }
        try (Progress bar = progress("load " + request.path().getFileName(), -1, "")) {
            return Engines.require(engine).load(request);
        }
    }
}
