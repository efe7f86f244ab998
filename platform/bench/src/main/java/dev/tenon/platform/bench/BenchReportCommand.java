package dev.tenon.platform.bench;

import dev.tenon.platform.bench.report.Report;
import dev.tenon.platform.bench.report.ReportComparison;
import dev.tenon.platform.bench.report.ReportComparison.Verdict;
import dev.tenon.platform.bench.report.ReportJson;
import dev.tenon.platform.bench.report.ReportPages;
import dev.tenon.platform.bench.report.TextReports;
import dev.tenon.platform.bench.suite.Suite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon bench report`: pages of a report, or what changed between two.
@Command(
        name = "report",
        sortOptions = false,
        description = {
            "Makes the pages of a report again, or compares two reports of 'tenon bench suite'.",
            "A change counts if Welch's 95 %% interval of the quotient of the means excludes 1; about one in twenty does"
                    + " so by chance."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bench report before.json after.json",
            "  tenon bench report before.json after.json --strict -o .",
            "  tenon bench report report.json -o pages",
        })
final class BenchReportCommand implements Callable<Integer> {
    @ParentCommand
    private BenchCommand bench;

    @Parameters(index = "0", paramLabel = "REPORT", description = "A report: its JSON file, or its folder.")
    private Path first;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "LATER",
            description = "A later report, to compare with the first.")
    private Path second;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FOLDER",
            description = "Folder, which is there, for the pages (default: of one report its own; of two none).")
    private Path output;

    @Option(names = "--noise", description = "List changes within the noise, too.")
    private boolean noise;

    @Option(names = "--strict", description = "End with status 1 if a result is worse.")
    private boolean strict;

    @Override
    public Integer call() {
        Path file = file(first);
        Report before = ReportJson.report(file);
        if (second == null) {
            Path folder = output != null ? output : file.toAbsolutePath().getParent();
            ReportPages.write(before, folder);
            bench.console.out().println(folder.resolve(ReportPages.HTML));
            bench.console.out().flush();
            return 0;
        }
        Report after = ReportJson.report(file(second));
        ReportComparison comparison = ReportComparison.of(before, after);
        bench.console.out().print(TextReports.markdown(comparison, noise));
        bench.console.out().flush();
        if (output != null) {
            bench.console.note(
                    ReportPages.write(comparison, before, after, output).toString());
        }
        return strict && !comparison.rows(Verdict.WORSE).isEmpty() ? 1 : 0;
    }

    private static Path file(Path given) {
        return Files.isDirectory(given) ? given.resolve(Suite.REPORT) : given;
    }
}
