package dev.tenon.platform.bench.report;

import java.nio.file.Path;

/// Writes the pages of a report, and of a comparison, into a folder.
public final class ReportPages {
    /// The page to look at.
    public static final String HTML = "report.html";

    private static final String COMPARISON = "comparison.html";

    private ReportPages() {}

    /// Writes HTML, Markdown and CSV in the place of earlier ones.
    ///
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if one cannot be written
    public static void write(Report report, Path folder) {
        ReportJson.write(folder.resolve(HTML), HtmlReport.of(report));
        ReportJson.write(folder.resolve("report.md"), TextReports.markdown(report));
        ReportJson.write(folder.resolve("report.csv"), TextReports.csv(report));
    }

    /// Writes a comparison as HTML.
    ///
    /// @return the page
    public static Path write(ReportComparison comparison, Report before, Report after, Path folder) {
        Path page = folder.resolve(COMPARISON);
        ReportJson.write(page, HtmlReport.of(comparison, before, after));
        return page;
    }
}
