package dev.tenon.platform.bench.suite;

import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.report.ProgramResult;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.bench.report.Report;
import dev.tenon.platform.bench.report.ReportJson;
import dev.tenon.platform.bench.suite.programs.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/// Runs programs one after the other, each in a process of its own, and writes the report after
/// each.
///
/// A program that fails, hangs or dies ends alone; what it measured before is kept. [#stop()] may
/// be called from any thread, the rest from one.
public final class Suite {
    /// The report's file in its folder.
    public static final String REPORT = "report.json";

    private static final int SHOWN_REASON = 160;
    private static final double NANOS = 1e9;
    /// What each program may take, however late it is.
    private static final double LEAST_SECONDS = 10;
    /// How long a case that has begun may take when a program's time is over.
    private static final double GRACE_SECONDS = 120;

    private final Path folder;
    private final ProgramProcess process;
    private final Consumer<String> told;
    private volatile boolean stopped;
    private volatile Thread thread;
    private Report report;

    /// Creates a suite.
    ///
    /// @param folder the report's folder, which is there
    /// @param report what is known so far; programs that are done in it do not run again
    /// @param process runs a program
    /// @param told hears a line after each program
    Suite(Path folder, Report report, ProgramProcess process, Consumer<String> told) {
        this.folder = folder;
        this.report = report;
        this.process = process;
        this.told = told;
    }

    /// How a program is run.
    ///
    /// @param program the program
    /// @param seconds its share of the time
    /// @param limitSeconds after what time its process is ended; 0: twice what it may take and two
    ///     minutes
    /// @param arguments of the process, but for what it may take
    record Job(Program program, double seconds, double limitSeconds, List<String> arguments) {}

    /// Runs the programs that are not done. What one of them leaves of its time, the others share, and
    /// what one takes more, they lack.
    ///
    /// @param jobs the programs, in order
    /// @return the report
    Report run(List<Job> jobs) {
        thread = Thread.currentThread();
        List<Job> open = jobs.stream().filter(job -> !isDone(job.program)).toList();
        double shares = open.stream().mapToDouble(Job::seconds).sum();
        double end = System.nanoTime() / NANOS + shares;
        write();
        int done = 0;
        for (Job job : open) {
            if (stopped) {
                report = report.with(nothing(job.program.name()).ended(Status.INTERRUPTED, "did not begin", 0));
                continue;
            }
            double left = Math.max(0, end - System.nanoTime() / NANOS);
            ProgramResult result = run(job, Math.max(LEAST_SECONDS, job.seconds * left / shares));
            shares -= job.seconds;
            report = report.with(result);
            write();
            done++;
            told.accept(String.format(
                    Locale.ROOT,
                    "| %-12s | %-11s | %6.0f s | %7d | %s |",
                    result.name(),
                    result.status().label(),
                    result.seconds(),
                    result.measurements().size(),
                    shortened(result.reason()) + (done < open.size() && !stopped ? minutesLeft(end) : "")));
        }
        write();
        return report;
    }

    private static String minutesLeft(double end) {
        double seconds = Math.max(0, end - System.nanoTime() / NANOS);
        return String.format(Locale.ROOT, " (at most %.0f min left)", Math.ceil(seconds / 60));
    }

    private boolean isDone(Program program) {
        return report.programs().stream()
                .anyMatch(result ->
                        result.name().equals(program.name()) && result.status().isDone());
    }

    private ProgramResult run(Job job, double seconds) {
        double limit = job.limitSeconds > 0 ? job.limitSeconds : 2 * seconds + GRACE_SECONDS;
        List<String> arguments = new ArrayList<>(job.arguments);
        arguments.addAll(List.of("--inside", String.format(Locale.ROOT, "%.0f", seconds)));
        String name = job.program.name();
        Path file = folder.resolve(name + ".json");
        long begin = System.nanoTime();
        Status status = Status.FAILED;
        String reason;
        try {
            Files.deleteIfExists(file);
            int exit = process.run(arguments, limit);
            ProgramResult result = read(file, name);
            if (exit != ProgramProcess.TOO_LONG && !stopped && result.status() != Status.INTERRUPTED) {
                return result;
            }
            status = stopped ? Status.INTERRUPTED : exit == ProgramProcess.TOO_LONG ? Status.TIMEOUT : Status.FAILED;
            reason = stopped
                    ? "interrupted"
                    : exit == ProgramProcess.TOO_LONG
                            ? String.format(Locale.ROOT, "took longer than %.0f s and was ended", limit)
                            : "its process ended with status " + exit + " before it had ended";
        } catch (InterruptedException e) {
            status = Status.INTERRUPTED;
            reason = "interrupted";
        } catch (IOException | TenonException e) {
            reason = e.getMessage();
        }
        return read(file, name).ended(status, reason, (System.nanoTime() - begin) / 1e9);
    }

    /// {@return what a program's process saved last; an empty result if that is nothing that can be
    ///     read}
    private static ProgramResult read(Path file, String name) {
        try {
            return Files.exists(file) ? ReportJson.program(file) : nothing(name);
        } catch (TenonException e) {
            return nothing(name).ended(Status.INTERRUPTED, e.getMessage(), 0);
        }
    }

    private static ProgramResult nothing(String name) {
        return new ProgramResult(name, Status.INTERRUPTED, "", 0, List.of(), List.of(), List.of());
    }

    private static String shortened(String reason) {
        String line = reason.lines().findFirst().orElse("");
        return line.length() <= SHOWN_REASON ? line : line.substring(0, SHOWN_REASON) + " …";
    }

    /// Writes the report; a full disk is told, and the next program is tried all the same.
    private void write() {
        try {
            ReportJson.write(folder.resolve(REPORT), ReportJson.text(report));
        } catch (TenonException e) {
            told.accept("The report is not written: " + e.getMessage());
        }
    }

    /// Ends the program that runs, and begins no other.
    void stop() {
        stopped = true;
        Thread runs = thread;
        if (runs != null) {
            runs.interrupt();
        }
    }

    /// {@return whether it was stopped}
    boolean isStopped() {
        return stopped;
    }
}
