package dev.tenon.platform.bench.report;

import dev.tenon.platform.bench.measure.Interval;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Two reports, measurement by measurement.
///
/// A change counts only if Welch's 95 % interval of the quotient of the means excludes 1: a mean
/// alone says nothing about how far the next run's will be away. Of `n` measurements without any
/// change, about `n / 20` are still outside; [#expectedByChance()] says how many to expect.
///
/// @param rows the measurements of both
/// @param onlyBefore how many measurements only the earlier report has
/// @param onlyAfter how many only the later one has
/// @param otherwise in what the machines, systems and programs differ, a phrase each
public record ReportComparison(List<Row> rows, int onlyBefore, int onlyAfter, List<String> otherwise) {
    private static final double ERROR_RATE = 0.05;
    private static final List<String> MACHINE = List.of("program", "processor", "processors", "system", "JVM");

    /// What became of a measurement.
    public enum Verdict {
        /// The interval excludes 1 on the better side.
        BETTER,
        /// The interval excludes 1 on the worse side.
        WORSE,
        /// The interval holds 1.
        WITHIN_NOISE,
        /// One of them has a single sample, which has no interval.
        UNKNOWN
    }

    /// A measurement of both.
    ///
    /// @param program the program
    /// @param before the earlier measurement
    /// @param after the later one
    /// @param quotient the later mean over the earlier one, with its interval
    /// @param verdict what that means
    public record Row(String program, Measurement before, Measurement after, Interval quotient, Verdict verdict) {}

    /// {@return the comparison}
    ///
    /// @param before the earlier report
    /// @param after the later one
    public static ReportComparison of(Report before, Report after) {
        Map<List<Object>, Measurement> earlier = new HashMap<>();
        for (ProgramResult program : before.programs()) {
            compared(program).forEach(m -> earlier.put(List.of(program.name(), m.key()), m));
        }
        List<Row> rows = new ArrayList<>();
        int onlyAfter = 0;
        for (ProgramResult program : after.programs()) {
            for (Measurement m : compared(program)) {
                Measurement old = earlier.remove(List.of(program.name(), m.key()));
                if (old == null) {
                    onlyAfter++;
                } else {
                    Interval quotient = Interval.ofQuotient(old.samples(), m.samples());
                    rows.add(new Row(program.name(), old, m, quotient, verdict(quotient, m.unit())));
                }
            }
        }
        return new ReportComparison(rows, earlier.size(), onlyAfter, otherwise(before.machine(), after.machine()));
    }

    private static List<String> otherwise(Map<String, String> before, Map<String, String> after) {
        return MACHINE.stream()
                .filter(name -> !Objects.equals(before.get(name), after.get(name)))
                .map(name -> name + " " + before.get(name) + ", then " + after.get(name))
                .toList();
    }

    /// Of single events, such as tokens, neighbours are not independent: an interval of them would
    /// be too narrow.
    private static List<Measurement> compared(ProgramResult program) {
        return program.measurements().stream().filter(m -> !m.isDistribution()).toList();
    }

    private static Verdict verdict(Interval quotient, Unit unit) {
        if (!Double.isFinite(quotient.low()) || !Double.isFinite(quotient.high())) {
            return Verdict.UNKNOWN;
        }
        if (!quotient.excludes(1)) {
            return Verdict.WITHIN_NOISE;
        }
        return quotient.low() > 1 == unit.higherIsBetter() ? Verdict.BETTER : Verdict.WORSE;
    }

    /// {@return the measurements with a verdict}
    public List<Row> rows(Verdict verdict) {
        return rows.stream().filter(row -> row.verdict == verdict).toList();
    }

    /// {@return how many of the measurements would be outside by chance alone}
    public double expectedByChance() {
        return ERROR_RATE * (rows.size() - rows(Verdict.UNKNOWN).size());
    }
}
