package dev.tenon.platform.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.MachineLock;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ProgramResult;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.bench.report.Report;
import dev.tenon.platform.bench.report.ReportJson;
import dev.tenon.platform.bench.report.Unit;
import dev.tenon.platform.bench.suite.programs.Program;
import dev.tenon.platform.bench.suite.programs.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SuiteTests {
    @TempDir
    Path folder;

    private final List<String> ran = new ArrayList<>();
    private final List<String> told = new ArrayList<>();

    private static Report empty() {
        return new Report("now", List.of("--all"), Map.of(), List.of());
    }

    private static List<Suite.Job> jobs() {
        return Programs.all().stream()
                .map(program -> new Suite.Job(program, program.seconds(), 0, List.of(program.name())))
                .toList();
    }

    private void save(String name, Status status, String reason) {
        Measurement one = new Measurement(
                "case", "cpu", "decode", Unit.TOKENS_PER_SECOND, new double[] {1, 2}, Place.NONE, Double.NaN);
        ProgramResult result = new ProgramResult(name, status, reason, 3, List.of(one), List.of(), List.of());
        ReportJson.write(folder.resolve(name + ".json"), ReportJson.text(result));
    }

    private ProgramResult result(Report report, String name) {
        return report.programs().stream()
                .filter(program -> program.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private Suite suite(Report report, ProgramProcess process) {
        return new Suite(folder, report, process, told::add);
    }

    /// What a process of a program may do: pass, die without a word, hang, fail with a message,
    /// fill the disk.
    @Test
    void aProgramThatEndsBadlyEndsAlone() {
        Report report = suite(empty(), (arguments, limit) -> {
                    String name = arguments.getFirst();
                    ran.add(name);
                    switch (name) {
                        case "kernels" -> {
                            return 139;
                        }
                        case "decode" -> {
                            save(name, Status.INTERRUPTED, "has not ended");
                            return ProgramProcess.TOO_LONG;
                        }
                        case "models" -> {
                            save(name, Status.FAILED, "Backend cuda has vanished [BACKEND-004]");
                            return 1;
                        }
                        case "batch" -> throw new IOException("No space left on device");
                        case "cross" -> {
                            Files.writeString(folder.resolve(name + ".json"), "{\"name\": \"cro");
                            return 1;
                        }
                        default -> {
                            save(name, Status.PASSED, "");
                            return 0;
                        }
                    }
                })
                .run(jobs());
        assertEquals(Programs.all().stream().map(Program::name).toList(), ran);
        assertEquals(Status.FAILED, result(report, "kernels").status());
        assertTrue(result(report, "kernels").reason().contains("status 139"));
        assertEquals(Status.TIMEOUT, result(report, "decode").status());
        assertEquals(1, result(report, "decode").measurements().size(), "what was measured is kept");
        assertEquals(
                "Backend cuda has vanished [BACKEND-004]",
                result(report, "models").reason());
        assertEquals("No space left on device", result(report, "batch").reason());
        assertEquals(Status.FAILED, result(report, "cross").status());
        assertEquals(Status.PASSED, result(report, "scaling").status());
        assertFalse(report.isWhole());
        assertEquals(ReportJson.text(report), ReportJson.text(ReportJson.report(folder.resolve(Suite.REPORT))));
        assertEquals(Programs.all().size(), told.size());
    }

    @Test
    void stoppingKeepsWhatThereIsAndResumingRunsTheRest() {
        Suite[] suite = new Suite[1];
        suite[0] = suite(empty(), (arguments, limit) -> {
            String name = arguments.getFirst();
            ran.add(name);
            if (ran.size() == 3) {
                save(name, Status.INTERRUPTED, "has not ended");
                suite[0].stop();
                throw new InterruptedException();
            }
            save(name, Status.PASSED, "");
            return 0;
        });
        Report partial = suite[0].run(jobs());
        assertEquals(3, ran.size());
        assertEquals(1, result(partial, ran.get(2)).measurements().size());
        assertEquals(
                Map.of(Status.PASSED, 2L, Status.INTERRUPTED, Programs.all().size() - 2L),
                partial.programs().stream()
                        .collect(Collectors.groupingBy(ProgramResult::status, Collectors.counting())));
        assertTrue(Thread.interrupted());

        List<String> first = List.copyOf(ran);
        ran.clear();
        Report kept = ReportJson.report(folder.resolve(Suite.REPORT));
        Report whole = suite(kept, (arguments, limit) -> {
                    ran.add(arguments.getFirst());
                    save(arguments.getFirst(), Status.PASSED, "");
                    return 0;
                })
                .run(jobs());
        assertTrue(whole.isWhole());
        assertFalse(ran.contains(first.get(0)) || ran.contains(first.get(1)));
        assertTrue(ran.contains(first.get(2)));
        assertEquals(Programs.all().size() - 2, ran.size());
    }

    @Test
    void aReportThatCannotBeWrittenDoesNotEndTheSuite() throws IOException {
        Path gone = folder.resolve("gone");
        Files.createDirectory(gone);
        Report report = new Suite(
                        gone,
                        empty(),
                        (arguments, limit) -> {
                            Files.deleteIfExists(gone.resolve(Suite.REPORT));
                            Files.deleteIfExists(gone);
                            ran.add(arguments.getFirst());
                            return 0;
                        },
                        told::add)
                .run(jobs());
        assertEquals(Programs.all().size(), ran.size());
        assertFalse(report.isWhole());
        assertTrue(told.stream().anyMatch(line -> line.contains(ErrorCode.IO)), told.toString());
    }

    /// Programs that end at once leave their time to the others; each may take its share at least.
    @Test
    void timeThatIsLeftIsShared() {
        List<Double> allowed = new ArrayList<>();
        List<Double> limits = new ArrayList<>();
        suite(empty(), (arguments, limit) -> {
                    assertEquals("--inside", arguments.get(1));
                    allowed.add(Double.parseDouble(arguments.get(2)));
                    limits.add(limit);
                    return 1;
                })
                .run(jobs());
        double all = Programs.all().stream().mapToInt(Program::seconds).sum();
        for (int i = 0; i < allowed.size(); i++) {
            assertTrue(allowed.get(i) >= Programs.all().get(i).seconds() - 1, allowed.toString());
            assertEquals(2 * allowed.get(i) + 120, limits.get(i), 1.5);
        }
        assertTrue(allowed.getLast() > 0.9 * all && allowed.getLast() <= all, allowed.toString());
    }

    @Test
    void onlyOneMeasures() {
        Path file = folder.resolve("lock");
        try (MachineLock first = MachineLock.take(file, "bench suite, here", false, told::add)) {
            TenonException e = assertThrows(
                    TenonException.class, () -> MachineLock.take(file, "bench suite, there", false, told::add));
            assertEquals(ErrorCode.BUSY, e.code());
            String holder = "process " + ProcessHandle.current().pid() + " (bench suite, here)";
            assertTrue(e.getMessage().contains(holder), e.getMessage());
        }
        MachineLock.take(file, "afterwards", false, told::add).close();
        assertEquals(List.of(), told);
    }

    @Test
    void fastestProgramsComeFirst() {
        List<Integer> seconds = Programs.all().stream().map(Program::seconds).toList();
        assertEquals(seconds.stream().sorted().toList(), seconds);
        assertEquals(11, seconds.size());
        assertTrue(seconds.stream().mapToInt(s -> s).sum() <= 1500, "25 minutes");
    }
}
