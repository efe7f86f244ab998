package dev.tenon.platform.bench.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Setting;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.kernel.cuda.Schedule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The table of seven settings, and what else is said on the command line.
class TuneTableTests {
    private static final List<Setting> SETTINGS = List.of(
            Setting.choice(Schedule.MV_THREADS_PER_ROW, "0", List.of("0", "8", "16", "32"), "Threads."),
            Setting.choice(Schedule.MV_BLOCK_SIZE, "0", List.of("0", "32", "64", "128", "256"), "A block."),
            Setting.choice(Schedule.MV_ROWS_PER_THREAD, "0", List.of("0", "1", "2", "4"), "Rows."));

    private static List<String> table(List<Setting> settings, TimeModel model) {
        StringWriter text = new StringWriter();
        new TuneTable(settings).print(model, new Workload(0, 64), new PrintWriter(text));
        return text.toString().lines().skip(2).toList();
    }

    @Test
    void sevenRowsOneMeasuredBesideTheDefaultsEach() {
        TimeModel model = new TimeModel(
                1,
                s -> s.isEmpty() ? 1 : 32.0 / Integer.parseInt(s.get(Schedule.MV_THREADS_PER_ROW)),
                (random, seconds) -> 1);
        model.faults.put(
                new Candidate(Map.of(
                                Schedule.MV_THREADS_PER_ROW, "16",
                                Schedule.MV_BLOCK_SIZE, "64",
                                Schedule.MV_ROWS_PER_THREAD, "4"))
                        .text(),
                "crashed");
        List<String> rows = table(SETTINGS, model);
        assertEquals(7, rows.size());
        assertEquals("| 8 | 4 | 4 | -75.0 | -75.0 to -75.0 |", rows.get(0));
        assertEquals("| 16 | 4 | 4 | | crashed |", rows.get(1));
        assertEquals("| 32 | 4 | 4 | +0.0 | +0.0 to +0.0 |", rows.get(2));
        assertTrue(rows.get(5).contains("mv.rows-per-thread=8 is not allowed: 0, 1, 2 or 4"), rows.get(5));
        assertTrue(rows.get(6).contains("mv.threads-per-row=64 is not allowed"), rows.get(6));
        assertEquals("mv.block-size=32 mv.rows-per-thread=4 mv.threads-per-row=8", model.opened.getFirst());
    }

    @Test
    void aBackendWithoutSuchSettingsSaysSo() {
        for (String row : table(List.of(), new TimeModel(1, s -> 1, (random, seconds) -> 1))) {
            assertTrue(row.contains("the backend has no mv."), row);
        }
    }

    @Test
    void budgetsAreTimes() {
        assertEquals(Optional.of(90_000_000_000L), TuneCommand.nanosOf("90s"));
        assertEquals(Optional.of(300_000_000_000L), TuneCommand.nanosOf("5m"));
        assertEquals(Optional.of(3_600_000_000_000L), TuneCommand.nanosOf("1h"));
        for (String wrong : List.of("", "5", "m", "0s", "-1s", "25h", "5 m", "1e3s")) {
            assertEquals(Optional.empty(), TuneCommand.nanosOf(wrong), wrong);
        }
    }

    @Test
    void theWidthOfTheBeamIsWhatOtherTunersCallIt() {
        assertEquals(2, TuneSettings.width(Map.of()));
        assertEquals(4, TuneSettings.width(Map.of("JITBEAM", "4")));
        assertEquals(3, TuneSettings.width(Map.of("JITBEAM", "4", "TENON_TUNE_BEAM", "3")));
        assertEquals(2, TuneSettings.width(Map.of("JITBEAM", "0")));
        assertThrows(TenonException.class, () -> TuneSettings.width(Map.of("JITBEAM", "many")));
    }
}
