package dev.tenon.platform.bench.report;

import java.util.List;
import java.util.Locale;

/// What a program of the suite did.
///
/// @param name the program
/// @param status how it ended
/// @param reason why, where it did not pass; otherwise empty
/// @param seconds how long it took
/// @param measurements what it measured, also if it did not end well
/// @param tables further tables
/// @param skipped cases that did not run, and why
public record ProgramResult(
        String name,
        Status status,
        String reason,
        double seconds,
        List<Measurement> measurements,
        List<ReportTable> tables,
        List<Skipped> skipped) {
    /// How a program ended.
    public enum Status {
        /// All that it was to measure, but for the cases that it skipped.
        PASSED,
        /// It could not run here.
        SKIPPED,
        /// It ended with a failure.
        FAILED,
        /// Its time was over.
        TIMEOUT,
        /// It was interrupted, or is running.
        INTERRUPTED;

        /// {@return how it is written}
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /// {@return whether nothing is left to be done}
        public boolean isDone() {
            return this == PASSED || this == SKIPPED;
        }
    }

    /// A case that did not run.
    ///
    /// @param testCase the case
    /// @param reason why
    public record Skipped(String testCase, String reason) {}

    public ProgramResult {
        measurements = List.copyOf(measurements);
        tables = List.copyOf(tables);
        skipped = List.copyOf(skipped);
    }

    /// {@return the result with another end}
    public ProgramResult ended(Status how, String why, double after) {
        return new ProgramResult(name, how, why, after, measurements, tables, skipped);
    }
}
