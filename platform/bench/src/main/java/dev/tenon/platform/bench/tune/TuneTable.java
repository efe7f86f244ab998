package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Setting;
import dev.tenon.api.kernel.cuda.Schedule;
import dev.tenon.platform.bench.measure.Interval;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The seven settings of matrix-vector kernels that the tuning of such kernels usually starts from, each measured
/// beside the defaults: threads of a row, rows of a block, rows of a thread.
final class TuneTable {
    private static final int[][] ROWS = {
        {8, 4, 4}, {16, 4, 4}, {32, 4, 4}, {32, 2, 4}, {32, 8, 4}, {32, 4, 8}, {64, 4, 4},
    };
    private static final int QUADS = 6;
    private static final double ERROR = 0.025;

    private final List<Setting> settings;

    /// @param settings what the backend declares
    TuneTable(List<Setting> settings) {
        this.settings = settings;
    }

    /// Measures and prints the table.
    ///
    /// @param rig measures
    /// @param workload what is measured
    /// @param out where to
    void print(Rig rig, Workload workload, PrintWriter out) {
        out.println("| threads a row | rows a block | rows a thread | gain % | interval |");
        out.println("| ---: | ---: | ---: | ---: | --- |");
        for (int[] row : ROWS) {
            out.printf("| %d | %d | %d | %s |%n", row[0], row[1], row[2], measured(rig, workload, row));
            out.flush();
        }
    }

    private String measured(Rig rig, Workload workload, int[] row) {
        // A block has as many threads as its rows need.
        Map<String, String> values = Map.of(
                Schedule.MV_THREADS_PER_ROW, Integer.toString(row[0]),
                Schedule.MV_BLOCK_SIZE, Integer.toString(row[0] * row[1]),
                Schedule.MV_ROWS_PER_THREAD, Integer.toString(row[2]));
        Optional<String> refusal = values.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> refusal(entry.getKey(), entry.getValue()))
                .flatMap(Optional::stream)
                .findFirst();
        if (refusal.isPresent()) {
            return "| " + refusal.get();
        }
        try {
            rig.open(new Candidate(values));
            List<Workload.Quad> quads = new ArrayList<>();
            while (quads.size() < QUADS) {
                quads.add(rig.quad());
            }
            Interval gain = workload.gain(quads, ERROR);
            return String.format(
                    "%+.1f | %+.1f to %+.1f", percent(gain.estimate()), percent(gain.low()), percent(gain.high()));
        } catch (CandidateFailure e) {
            return "| " + e.getMessage();
        }
    }

    private Optional<String> refusal(String name, String value) {
        Optional<Setting> setting =
                settings.stream().filter(s -> s.name().equals(name)).findFirst();
        if (setting.isEmpty()) {
            return Optional.of("the backend has no " + name);
        }
        return setting.get().type().normalize(value).isPresent()
                ? Optional.empty()
                : Optional.of(name + "=" + value + " is not allowed: "
                        + setting.get().type().allowed());
    }

    /// {@return a gain as a logarithm in percent of speed}
    ///
    /// @param gain the logarithm
    static double percent(double gain) {
        return 100 * Math.expm1(gain);
    }
}
