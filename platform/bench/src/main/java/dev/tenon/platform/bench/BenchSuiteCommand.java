package dev.tenon.platform.bench;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.bench.report.Report;
import dev.tenon.platform.bench.report.ReportJson;
import dev.tenon.platform.bench.suite.Suite;
import dev.tenon.platform.bench.suite.SuitePlan;
import dev.tenon.platform.bench.suite.programs.Program;
import dev.tenon.platform.bench.suite.programs.ProgramOptions;
import dev.tenon.platform.bench.suite.programs.Programs;
import dev.tenon.platform.bench.suite.programs.TenonProcess;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.hub.ModelFiles;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon bench suite`: all benchmark programs, and a report.
@Command(
        name = "suite",
        sortOptions = false,
        description = {
            "Runs benchmark programs, the fastest first, each in a process of its own, and writes a report: HTML,"
                    + " Markdown, JSON and CSV in one folder.",
            "Models are files with the true shapes and random weights, made when needed and deleted afterwards, or real"
                    + " ones where they are found. A case that time, memory or disk do not allow is skipped, and the"
                    + " report says why."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bench suite --list",
            "  tenon bench suite --all",
            "  tenon bench suite kernels decode -o report",
            "  tenon bench suite --all --minutes 60 --llama-bench ./llama-bench",
            "  tenon bench suite --resume report",
            "  tenon bench suite direct --variant-b \"--set threads.pin=on\"",
        })
final class BenchSuiteCommand implements Callable<Integer> {
    private static final double ALL_MINUTES = 23;
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    @ParentCommand
    private BenchCommand bench;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "PROGRAM", description = "Programs to run; --list shows them.")
    private List<String> names = List.of();

    @Option(names = "--all", description = "Run all programs, in 23 minutes altogether.")
    private boolean all;

    @Option(names = "--list", description = "List the programs, and about how long each takes.")
    private boolean list;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FOLDER",
            description = "Folder of the report (default: bench-report- with date and time, in this folder).")
    private Path output;

    @Option(
            names = "--resume",
            paramLabel = "FOLDER",
            description =
                    "Complete the report in this folder, with its options: programs that passed do not run again.")
    private Path resume;

    @Option(
            names = "--quick",
            description = "Two layers of each model, and little of everything: to see whether all works.")
    private boolean quick;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "Time of all programs together (default: what --list shows; 23 with --all).")
    @Range(min = 1, max = 10_000)
    private Integer minutes;

    @Option(
            names = "--limit",
            paramLabel = "SECONDS",
            description = "When to end a program's process (default: after twice its time and two minutes).")
    @Range(min = 1, max = 1_000_000)
    private Integer limit;

    @Option(names = "--wait", description = "Wait while another process of yours measures, instead of refusing.")
    private boolean waits;

    @Option(
            names = "--backend",
            paramLabel = "ID",
            split = ",",
            description = "Backends (default: all that are available and need not be named to run).")
    private List<String> backends = List.of();

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "0",
            description = "CPU threads; 0: one per core (default: ${DEFAULT-VALUE}).")
    @Range(max = Range.MOST_THREADS)
    private int threads;

    @Option(
            names = "--models",
            paramLabel = "FOLDER",
            description = "Where real model files are looked for, by names such as Llama-3.2-1B-Instruct-Q6_K.gguf"
                    + " (default: the folder of pulled models).")
    private Path models;

    @Option(
            names = "--keep-models",
            description = "Keep the models that were made, in the folder models of the report.")
    private boolean keepModels;

    @Option(names = "--text", paramLabel = "FILE", description = "Text for perplexity (default: one of our own).")
    private Path text;

    @Option(names = "--url", paramLabel = "URL", description = "Peer of cross: address of an OpenAI end point.")
    private String url = "";

    @Option(names = "--llama-bench", paramLabel = "PATH", description = "Peer of cross: llama.cpp's llama-bench.")
    private String llamaBench = "";

    @Option(
            names = "--variant-a",
            paramLabel = "OPTIONS",
            description = "First variant of direct: variables and options of 'tenon bench' (default: the first"
                    + " backend; of a single one, the Vector API instead of machine code).")
    private String variantA = "";

    @Option(
            names = "--variant-b",
            paramLabel = "OPTIONS",
            description = "Second variant of direct (default: the second backend; of a single one, as it is).")
    private String variantB = "";

    @Option(names = "--inside", paramLabel = "SECONDS", hidden = true, description = "Run one program in this process.")
    @Range(min = 1, max = 10_000_000)
    private Integer inside;

    @Override
    public Integer call() throws InterruptedException {
        if (list) {
            list();
            return 0;
        }
        Engine engine = Engines.require(bench.engine);
        TenonProcess tenon = new TenonProcess();
        if (resume != null) {
            return resume(engine, tenon);
        }
        List<Program> programs = programs();
        Path folder = output != null ? output : Path.of("bench-report-" + STAMP.format(LocalDateTime.now()));
        SuitePlan plan = new SuitePlan(
                programs,
                options(folder),
                arguments(),
                folder,
                minutes != null ? minutes : all && !quick ? ALL_MINUTES : 0,
                limit == null ? 0 : limit,
                keepModels);
        if (inside != null) {
            return plan.runInside(inside, engine, bench.console, tenon);
        }
        if (java.nio.file.Files.exists(folder.resolve(Suite.REPORT))) {
            throw usage(folder + " has a report already. Complete it with --resume " + folder + ", or give another -o");
        }
        Report empty = new Report(
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), commandLine(), Map.of(), List.of());
        return plan.run(empty, bench.version(), engine, bench.console, tenon, waits);
    }

    private void list() {
        for (Program program : Programs.all()) {
            bench.console.out().printf("%-12s %4d s  %s%n", program.name(), program.seconds(), program.about());
        }
        bench.console.out().flush();
    }

    /// Takes the options of the report, and its folder.
    private int resume(Engine engine, TenonProcess tenon) throws InterruptedException {
        Report report = ReportJson.report(resume.resolve(Suite.REPORT));
        BenchSuiteCommand before = new BenchSuiteCommand();
        before.bench = bench;
        try {
            new CommandLine(before).parseArgs(report.options().toArray(String[]::new));
        } catch (ParameterException e) {
            throw usage("The options in " + resume.resolve(Suite.REPORT) + " are not understood: " + e.getMessage());
        }
        before.spec = spec;
        SuitePlan plan = new SuitePlan(
                before.programs(),
                before.options(resume),
                before.arguments(),
                resume,
                before.minutes != null ? before.minutes : before.all && !before.quick ? ALL_MINUTES : 0,
                before.limit == null ? 0 : before.limit,
                before.keepModels);
        return plan.run(report, bench.version(), engine, bench.console, tenon, waits);
    }

    private List<Program> programs() {
        if (all == !names.isEmpty()) {
            throw usage(
                    all
                            ? "Give --all or names of programs, not both"
                            : "Give names of programs, or --all; --list shows them");
        }
        if (all) {
            return Programs.all();
        }
        List<Program> chosen = new ArrayList<>();
        for (String name : names) {
            chosen.add(Programs.find(name)
                    .orElseThrow(() -> usage("There is no program '" + name + "'; choose from "
                            + String.join(
                                    ", ",
                                    Programs.all().stream().map(Program::name).toList()))));
        }
        return Programs.all().stream().filter(chosen::contains).toList();
    }

    private ProgramOptions options(Path folder) {
        Path pulled = ModelFiles.folder(bench.console.setting("models"));
        return new ProgramOptions(
                backends,
                threads,
                quick,
                models != null ? models : pulled,
                folder.resolve("models"),
                url,
                llamaBench,
                text == null ? "" : text.toString(),
                variantA,
                variantB);
    }

    /// {@return the options that the processes of the programs need}
    private List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        if (!backends.isEmpty()) {
            arguments.addAll(List.of("--backend", String.join(",", backends)));
        }
        arguments.addAll(List.of("-t", Integer.toString(threads)));
        if (quick) {
            arguments.add("--quick");
        }
        add(arguments, "--models", models == null ? "" : models.toString());
        add(arguments, "--text", text == null ? "" : text.toString());
        add(arguments, "--url", url);
        add(arguments, "--llama-bench", llamaBench);
        add(arguments, "--variant-a", variantA);
        add(arguments, "--variant-b", variantB);
        return arguments;
    }

    private static void add(List<String> arguments, String name, String value) {
        if (!value.isEmpty()) {
            arguments.add(name + "=" + value);
        }
    }

    /// {@return what `--resume` needs to go on}
    private List<String> commandLine() {
        List<String> line = new ArrayList<>(all ? List.of("--all") : names);
        line.addAll(arguments());
        if (minutes != null) {
            line.addAll(List.of("--minutes", minutes.toString()));
        }
        if (limit != null) {
            line.addAll(List.of("--limit", limit.toString()));
        }
        if (keepModels) {
            line.add("--keep-models");
        }
        return line;
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
