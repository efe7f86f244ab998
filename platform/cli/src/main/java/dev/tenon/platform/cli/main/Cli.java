package dev.tenon.platform.cli.main;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.Answers;
import dev.tenon.platform.cli.Ranges;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.terminal.Colors;
import dev.tenon.platform.cli.terminal.OtherWords;
import dev.tenon.platform.cli.terminal.StandardOutput;
import dev.tenon.platform.cli.terminal.Streams;
import dev.tenon.platform.core.control.ModelRegistries;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParseResult;

/// Runs one command line. Creates only the command that is called; for a listing, all of them.
final class Cli {
    /// What `help --markdown` becomes.
    private static final List<String> PAGE = List.of("--markdown", "--help");
    /// What `help --man` becomes.
    private static final List<String> MANUAL = List.of("--man", "--help");

    private final List<CommandSource> sources;
    private final Streams streams;
    private final UnaryOperator<String> settings;
    private final Supplier<ModelRegistries> registries;
    private final String version;
    private final BooleanSupplier ending;
    private final Runs.Run current;
    private final Answers answers;
    /// Whether a command's own code is called, whose output may depend on anything.
    private boolean called;

    /// Creates a command line.
    ///
    /// @param sources the commands there are
    /// @param streams standard streams
    /// @param settings looks up a setting by its key; null when it is not set
    /// @param registries finds the registries of models; called when one is needed
    /// @param version what `--version` prints
    /// @param ending whether the process is ending; failures after that are caused by stopped
    ///     bundles and not reported
    /// @param current this run of the command
    /// @param answers keeps what depends on nothing but the call
    Cli(
            List<CommandSource> sources,
            Streams streams,
            UnaryOperator<String> settings,
            Supplier<ModelRegistries> registries,
            String version,
            BooleanSupplier ending,
            Runs.Run current,
            Answers answers) {
        this.sources = List.copyOf(sources);
        this.streams = streams;
        this.settings = settings;
        this.registries = registries;
        this.version = version;
        this.ending = ending;
        this.current = current;
        this.answers = answers;
    }

    /// Runs a command.
    ///
    /// @param args name and options
    /// @return exit status
    int execute(String... args) {
        boolean debugAsked = Arrays.asList(args).contains("--debug") || "1".equals(settings.apply("debug"));
        int status;
        try {
            status = run(debugAsked, OtherWords.ours(helpAsOption(args)));
        } catch (RuntimeException | OutOfMemoryError | LinkageError | StackOverflowError e) {
            status = failure(e, debugAsked);
        }
        try {
            streams.out().flush();
        } catch (StandardOutput.Lost e) {
            status = CliErrors.FAILED;
        }
        if (streams.output().failure().isPresent() && !ending.getAsBoolean()) {
            status = CliErrors.outputLost(streams.output(), streams.err());
        }
        streams.err().flush();
        return status;
    }

    /// Reports a failure: to whoever began a trial, else to people.
    private int failure(Throwable error, boolean debug) {
        if (unreported()) {
            return CliErrors.FAILED;
        }
        if (current.isTrial()) {
            current.failed(error);
            return CliErrors.FAILED;
        }
        return CliErrors.failure(error, streams.err(), debug);
    }

    private int usage(CommandLine.ParameterException error, boolean debug) {
        return ending.getAsBoolean() || current.isTrial()
                ? failure(error, debug)
                : CliErrors.usage(error, streams.err(), debug);
    }

    /// Whether a failure is a consequence of stopped bundles, which is not reported, or of lost output, which is
    /// reported at the end.
    private boolean unreported() {
        return ending.getAsBoolean() || streams.output().failure().isPresent();
    }

    /// `help run` means `run --help`.
    private static String[] helpAsOption(String... args) {
        if (args.length == 0 || !args[0].equals("help")) {
            return args;
        }
        String[] changed = Arrays.copyOfRange(args, 1, args.length + 1);
        changed[args.length - 1] = "--help";
        return changed;
    }

    private int run(boolean debugAsked, String... args) {
        Colors colors = Colors.choose(settings.apply("color"), System.getenv(), Arrays.asList(args));
        RootCommand root = new RootCommand(streams, settings, registries, colors, current);
        Map<TenonCommand, CommandSource> made = new LinkedHashMap<>();
        try {
            List<CommandSource> wanted = wanted(args);
            // The engine is created with the command that uses it, while picocli reads the root
            // command's options.
            List<FutureTask<TenonCommand>> commands = new ArrayList<>();
            for (CommandSource source : wanted) {
                commands.add(new FutureTask<>(source::create));
            }
            if (commands.size() == 1) {
                Thread.ofPlatform().daemon().name("tenon-command").start(commands.getFirst());
            }
            CommandLine line = new CommandLine(root);
            line.getCommandSpec().version("tenon " + version);
            for (int i = 0; i < wanted.size(); i++) {
                add(wanted.get(i), commands.get(i), line, made);
            }
            // Help and versions; picocli prints a stack trace where their output fails.
            StringWriter help = new StringWriter();
            line.setOut(new PrintWriter(help));
            line.setErr(streams.err());
            line.setColorScheme(Help.defaultColorScheme(colors.on(streams.outTerminal()) ? Ansi.ON : Ansi.OFF));
            line.setCaseInsensitiveEnumValuesAllowed(true);
            line.setUsageHelpAutoWidth(false);
            line.setUsageHelpWidth(80);
            line.setUsageHelpLongOptionsMaxWidth(28);
            line.getHelpSectionMap().remove(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING);
            line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, CommandGroups::list);
            line.setParameterExceptionHandler((error, params) -> usage(error, root.debug() || debugAsked));
            line.setExecutionExceptionHandler((error, command, result) -> {
                if (unreported()) {
                    return CliErrors.FAILED;
                }
                streams.out().flush();
                return error instanceof CommandLine.ParameterException wrong
                        ? usage(wrong, root.debug())
                        : failure(error, root.debug());
            });
            line.setExecutionStrategy(this::call);
            int status = 0;
            if (args.length == 0) {
                line.usage(line.getOut());
            } else if (List.of(args).equals(PAGE)) {
                new CommandsPage(line).print(line.getOut());
            } else if (List.of(args).equals(MANUAL)) {
                new ManPage(line).print(line.getOut());
            } else {
                status = line.execute(args);
            }
            if (!called && !help.toString().isEmpty()) {
                answers.keep(status, help.toString());
            }
            streams.styledOut().print(help);
            return status;
        } finally {
            made.forEach((command, source) -> source.release(command));
        }
    }

    private int call(ParseResult result) {
        ParseResult last = result;
        boolean asked = false;
        for (ParseResult at = result; at != null; at = at.subcommand()) {
            asked |= at.isUsageHelpRequested() || at.isVersionHelpRequested();
            last = at;
        }
        called = !asked && !(last.commandSpec().userObject() instanceof CompletionCommand);
        return Ranges.run(result);
    }

    /// Creates the command, or waits for the thread that does.
    private static TenonCommand created(FutureTask<TenonCommand> creation) {
        creation.run();
        try {
            return creation.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException known -> throw known;
                case Error known -> throw known;
                default -> throw new IllegalStateException(e.getCause());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the start was interrupted", e);
        }
    }

    /// The source of the named command, or all when no known command is named, or the one that completes all; none
    /// for the version alone.
    private List<CommandSource> wanted(String... args) {
        if (args.length == 1 && (args[0].equals("--version") || args[0].equals("-V"))) {
            return List.of();
        }
        Optional<String> name = name(args);
        List<CommandSource> named = sources.stream()
                .filter(s -> name.isPresent() && parent(s.name()).equals(name.get()))
                .toList();
        long distinct = named.stream().map(CommandSource::name).distinct().count();
        if (named.size() > distinct) {
            throw new TenonException(
                    ErrorCode.DUPLICATE_ID,
                    "Command '" + name.orElseThrow() + "' is offered by "
                            + named.stream().map(CommandSource::origin).collect(Collectors.joining(" and "))
                            + ". Remove one of them.");
        }
        boolean known = named.stream().anyMatch(s -> s.name().equals(name.orElseThrow()));
        if (known && !name.orElseThrow().equals(CompletionCommand.COMMAND)) {
            // A command before those below it.
            return named.stream()
                    .sorted(Comparator.comparing(CommandSource::name))
                    .toList();
        }
        List<CommandSource> all = new ArrayList<>(sources);
        all.sort(Comparator.comparingInt((CommandSource source) -> CommandGroups.rank(source.name()))
                .thenComparing(CommandSource::name));
        return all;
    }

    /// {@return the name of the command that is called, if one is}
    ///
    /// @param args arguments of the process
    static Optional<String> name(String... args) {
        return Arrays.stream(args).filter(a -> !a.startsWith("-")).findFirst();
    }

    /// The first word of a name: `doctor nv-tegra` is a command below `doctor`.
    private static String parent(String name) {
        return name.split(" ")[0];
    }

    private void add(
            CommandSource source,
            FutureTask<TenonCommand> creation,
            CommandLine line,
            Map<TenonCommand, CommandSource> made) {
        try {
            TenonCommand command = created(creation);
            if (command == null) {
                throw new IllegalStateException("its service was withdrawn, or a service that it needs is missing");
            }
            made.put(command, source);
            CommandLine sub = new CommandLine(command);
            sub.getCommandSpec().usageMessage().abbreviateSynopsis(true);
            String parent = parent(source.name());
            if (parent.equals(source.name())) {
                line.addSubcommand(parent, sub);
            } else if (line.getSubcommands().containsKey(parent)) {
                String own = source.name().substring(parent.length() + 1);
                line.getSubcommands().get(parent).addSubcommand(own, sub);
            }
        } catch (RuntimeException | LinkageError e) {
            if (ending.getAsBoolean()) {
                throw e; // caused by stopped bundles
            }
            if (current.isTrial()) {
                current.failed(e);
                return;
            }
            streams.err()
                    .println("tenon: Command '" + source.name() + "' of " + source.origin() + " cannot be used: "
                            + e.getMessage() + ". Update or remove the bundle. [" + ErrorCode.ENV_PLATFORM + "]");
        }
    }
}
