package dev.tenon.platform.bench.measure;

import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanReport;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Where the time of a test went: kernels of the same op, role and name added up over layers and
/// runs. Not safe for several threads.
public final class BenchProfile {
    /// Kernels that belong together.
    ///
    /// @param op kind of the op
    /// @param role what it is in the model, such as `attn_q+attn_k+attn_v`, `ffn_down` or `head`
    /// @param kernel name of the kernel
    /// @param count how often one ran
    /// @param nanos time of all
    /// @param bytes bytes that all had to read at least
    public record Row(String op, String role, String kernel, long count, long nanos, long bytes) {
        Row plus(PlanProfile.Entry e) {
            return new Row(op, role, kernel, count + e.count(), nanos + e.nanos(), bytes + e.bytes());
        }

        /// {@return microseconds of one run}
        public double micros() {
            return count == 0 ? 0 : nanos / 1e3 / count;
        }

        /// {@return GB/s of the bytes that had to be read}
        public double gigabytesPerSecond() {
            return nanos == 0 ? 0 : (double) bytes / nanos;
        }
    }

    private record Key(String op, String role, String kernel) {}

    private final Map<Key, Row> rows = new LinkedHashMap<>();
    private final List<Double> overheads = new ArrayList<>();
    private long planNanos;
    private long runs;
    private long profiledNanos;
    private long plainNanos;

    /// Adds a profiled repetition and the plain one next to it.
    ///
    /// @param profile what was measured
    /// @param profiled time of the profiled repetition
    /// @param plain time of the same without profiler
    void add(PlanProfile profile, long profiled, long plain) {
        profiledNanos += profiled;
        plainNanos += plain;
        overheads.add((double) profiled / plain - 1);
        planNanos += profile.nanos();
        runs += profile.steps();
        for (PlanProfile.Entry entry : profile.entries()) {
            Key key = new Key(
                    entry.kernel().op(), role(entry.kernel()), entry.kernel().kernel());
            Row row = rows.getOrDefault(key, new Row(key.op, key.role, key.kernel, 0, 0, 0));
            rows.put(key, row.plus(entry));
        }
    }

    /// {@return what a kernel is in the model}
    ///
    /// @param step a kernel of a plan
    static String role(PlanReport.Kernel step) {
        if (step.op().equals("linear")
                && (step.name().equals("output.weight") || step.name().equals("token_embd.weight"))) {
            return "head";
        }
        return Stream.of(step.name().split(", "))
                .map(name -> name.replaceFirst("^blk\\.\\d+\\.", "")
                        .replaceFirst("\\.weight$", "")
                        .replaceFirst("[-.]\\d+$", ""))
                .collect(Collectors.joining("+"));
    }

    /// {@return the rows, those that took most first}
    public List<Row> rows() {
        List<Row> sorted = new ArrayList<>(rows.values());
        sorted.sort(Comparator.comparingLong(Row::nanos).reversed());
        return sorted;
    }

    /// {@return a row's part of the time of the profiled repetitions, 0 to 1}
    ///
    /// @param row one of the rows
    public double share(Row row) {
        return (double) row.nanos() / profiledNanos;
    }

    /// {@return how much longer the profiled repetitions took than the plain ones next to them:
    ///     0.01 is one percent, mean of all}
    public double overhead() {
        return Statistics.mean(overheadSamples());
    }

    /// {@return sample standard deviation of [#overhead()]; an overhead below it is noise}
    public double overheadDeviation() {
        return Statistics.deviation(overheadSamples());
    }

    private double[] overheadSamples() {
        return overheads.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /// {@return time of the profiled repetitions inside the plan, but in none of its kernels}
    public long betweenKernelsNanos() {
        return planNanos - rows.values().stream().mapToLong(Row::nanos).sum();
    }

    /// {@return time of the profiled repetitions outside the plan: scheduling, copies of logits}
    public long outsideNanos() {
        return profiledNanos - planNanos;
    }

    /// {@return steps of the profiled repetitions}
    public long steps() {
        return runs;
    }

    /// {@return time of the profiled repetitions}
    public long nanos() {
        return profiledNanos;
    }

    /// Prints a table.
    ///
    /// @param out where to
    /// @param test name of the test
    public void print(PrintWriter out, String test) {
        out.println();
        out.println("profile of " + test + ":");
        out.println("| op               | role                           | kernel                   |    count |"
                + "       µs | share % |    GB/s |");
        out.println("| ---------------- | ------------------------------ | ------------------------ | -------: |"
                + " -------: | ------: | ------: |");
        for (Row row : rows()) {
            out.printf(
                    Locale.ROOT,
                    "| %-16s | %-30s | %-24s | %8d | %8.2f | %7.2f | %7.2f |%n",
                    row.op(),
                    row.role(),
                    row.kernel(),
                    row.count(),
                    row.micros(),
                    100 * share(row),
                    row.gigabytesPerSecond());
        }
        rest(out, "between kernels", betweenKernelsNanos());
        rest(out, "outside the plan", outsideNanos());
        out.printf(
                Locale.ROOT,
                "profiling: %.3f ms a repetition (%.1f steps) profiled, %.3f ms without: overhead %+.2f ± %.2f %%%n",
                profiledNanos / 1e6 / overheads.size(),
                (double) runs / overheads.size(),
                plainNanos / 1e6 / overheads.size(),
                100 * overhead(),
                100 * overheadDeviation());
    }

    private void rest(PrintWriter out, String what, long nanos) {
        out.printf(
                Locale.ROOT,
                "| %-16s | %-30s | %-24s | %8d | %8.2f | %7.2f | %7s |%n",
                what,
                "",
                "",
                runs,
                nanos / 1e3 / Math.max(1, runs),
                100.0 * nanos / profiledNanos,
                "");
    }
}
