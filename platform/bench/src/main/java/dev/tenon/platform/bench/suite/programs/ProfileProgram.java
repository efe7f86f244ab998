package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.bench.measure.BenchProfile;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.bench.report.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// `profile`: the kernels of a decoded token, and what timing them costs.
final class ProfileProgram implements Program {
    private static final int TOKENS = 16;

    @Override
    public String name() {
        return "profile";
    }

    @Override
    public String about() {
        return "Llama 3.2 1B Q6_K: the kernels of a decoded token, and what timing them costs";
    }

    @Override
    public int seconds() {
        return 50;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpec spec = run.model("llama-3.2-1b", "Q6_K");
        for (Backend backend : run.backends()) {
            BenchProfile profile = new BenchProfile();
            new ModelSpeed(run)
                    .measure(spec, new ModelSpeed.Setup(backend, new BenchTest(0, TOKENS, 0)), Place.NONE, profile);
            if (!profile.rows().isEmpty()) {
                table(run, spec, backend, profile);
            }
        }
        run.files().drop(spec);
    }

    private static void table(ProgramRun run, ModelSpec spec, Backend backend, BenchProfile profile) {
        List<List<String>> rows = new ArrayList<>();
        for (BenchProfile.Row row : profile.rows()) {
            if (row.count() == 0) {
                continue; // such as the choice of rows where all are wanted
            }
            rows.add(List.of(
                    row.role(),
                    row.op(),
                    row.kernel(),
                    number("%.1f", (double) row.count() / profile.steps()),
                    number("%.2f", row.micros()),
                    number("%.2f", 100 * profile.share(row)),
                    number("%.2f", row.gigabytesPerSecond())));
        }
        rest(rows, profile, "between kernels", profile.betweenKernelsNanos());
        rest(rows, profile, "outside the plan", profile.outsideNanos());
        run.add(new ReportTable(
                spec.label() + ", a decoded token on " + backend.id()
                        + String.format(
                                Locale.ROOT,
                                "; timing the kernels costs %+.2f ± %.2f %%",
                                100 * profile.overhead(),
                                100 * profile.overheadDeviation()),
                List.of("role", "op", "kernel", "a token", "µs each", "% of the time", "GB/s"),
                rows));
        run.add(spec.label(), backend.id(), "cost of profiling", Unit.PERCENT, 100 * profile.overhead());
    }

    private static void rest(List<List<String>> rows, BenchProfile profile, String name, long nanos) {
        rows.add(List.of(
                name,
                "",
                "",
                "",
                number("%.2f", nanos / 1e3 / profile.steps()),
                number("%.2f", 100.0 * nanos / profile.nanos()),
                ""));
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
