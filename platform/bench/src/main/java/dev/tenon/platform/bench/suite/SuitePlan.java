package dev.tenon.platform.bench.suite;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.MachineLock;
import dev.tenon.platform.bench.report.Report;
import dev.tenon.platform.bench.report.ReportJson;
import dev.tenon.platform.bench.report.ReportPages;
import dev.tenon.platform.bench.suite.programs.Program;
import dev.tenon.platform.bench.suite.programs.ProgramOptions;
import dev.tenon.platform.bench.suite.programs.ProgramRun;
import dev.tenon.platform.bench.suite.programs.TenonProcess;
import dev.tenon.platform.cli.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A run of the suite as the command line asked for it: lock, folder, processes, pages.
///
/// @param programs what is to run, in order
/// @param options for the programs
/// @param arguments the options as they are handed to the processes of the programs
/// @param folder the report's folder
/// @param minutes what all programs may take together; 0: what each takes usually
/// @param limitSeconds after what time a program's process is ended; 0: twice its time and two
///     minutes
/// @param keepModels whether models that were made stay
public record SuitePlan(
        List<Program> programs,
        ProgramOptions options,
        List<String> arguments,
        Path folder,
        double minutes,
        double limitSeconds,
        boolean keepModels) {
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;
    private static final double QUICK = 0.4;
    /// Runs the suite.
    ///
    /// @param begun an earlier report that is to be completed, or one without programs
    /// @param version version of the program
    /// @param waits whether to wait for another process that measures
    /// @return exit status
    public int run(Report begun, String version, Engine engine, Console console, TenonProcess tenon, boolean waits) {
        tenon.program(); // fails before anything is written
        try (MachineLock lock =
                MachineLock.take(MachineLock.file(), "bench suite, " + folder.toAbsolutePath(), waits, console::note)) {
            prepare();
            Report described = begun.machine().isEmpty()
                    ? begun.withMachine(MachineFacts.of(engine, version, options.team()))
                    : begun;
            return run(described, ProgramProcess.ofInstallation(tenon), console);
        }
    }

    /// Runs the programs and makes the pages.
    int run(Report begun, ProgramProcess process, Console console) {
        Suite suite = new Suite(folder, begun, process, line -> {
            console.out().println(line);
            console.out().flush();
        });
        console.out().println("| program      | status      |     time | results | |");
        console.out().println("| ------------ | ----------- | -------: | ------: | - |");
        console.out().flush();
        Report report;
        int stopped;
        try (Console.Interrupt interrupt = console.onInterrupt(suite::stop);
                Console.Interrupt termination = console.onTermination(suite::stop)) {
            report = suite.run(jobs());
            stopped = termination.happened() ? TERMINATED : INTERRUPTED;
        } finally {
            removeModels(console);
        }
        boolean interrupted = Thread.interrupted() || suite.isStopped();
        ReportPages.write(report, folder);
        console.note(folder.resolve(ReportPages.HTML)
                + (report.isWhole() ? "" : " is not whole; go on with: tenon bench suite --resume " + folder));
        return report.isWhole() ? 0 : interrupted ? stopped : 1;
    }

    private void prepare() {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, folder + " cannot be made: " + e.getMessage() + ". Give another one with -o.", e);
        }
    }

    private List<Suite.Job> jobs() {
        double usual = programs.stream().mapToDouble(Program::seconds).sum();
        double factor = minutes > 0 ? 60 * minutes / usual : options.quick() ? QUICK : 1;
        List<Suite.Job> jobs = new ArrayList<>();
        for (Program program : programs) {
            List<String> command = new ArrayList<>(List.of("bench", "suite", program.name()));
            command.addAll(List.of("-o", folder.toString()));
            command.addAll(arguments);
            jobs.add(new Suite.Job(program, factor * program.seconds(), limitSeconds, command));
        }
        return jobs;
    }

    private void removeModels(Console console) {
        if (keepModels || !Files.isDirectory(options.madeModels())) {
            return;
        }
        try (Stream<Path> files = Files.walk(options.madeModels())) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            console.note(options.madeModels() + " is left behind: " + e.getMessage());
        }
    }

    /// Runs a program in this process, which the suite started for it.
    ///
    /// @param seconds what it may take
    /// @return exit status
    public int runInside(double seconds, Engine engine, Console console, TenonProcess tenon)
            throws InterruptedException {
        Program program = programs.getFirst();
        Path file = folder.resolve(program.name() + ".json");
        try (ProgramRun run = new ProgramRun(
                program,
                options,
                engine,
                console,
                tenon,
                seconds,
                result -> ReportJson.write(file, ReportJson.text(result)))) {
            return run.run().status().isDone() ? 0 : 1;
        }
    }
}
