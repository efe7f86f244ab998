package dev.tenon.platform.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.Issue;
import dev.tenon.platform.boot.CacheMaker;
import dev.tenon.platform.cli.doctor.DoctorReport.Finding;
import dev.tenon.platform.cli.doctor.DoctorReport.Level;
import dev.tenon.platform.cli.main.FakeEngine;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTests {
    @TempDir
    Path folder;

    private final DoctorReport report = new DoctorReport();

    private Finding only() {
        assertEquals(1, report.findings().size());
        return report.findings().getFirst();
    }

    @Test
    void missingVectorModuleFailsAndNamesTheFlag() {
        JvmChecks.vectorModule(report, false);
        assertEquals(Level.FAIL, only().level());
        assertTrue(only().advice().contains("--add-modules jdk.incubator.vector"));
        assertTrue(only().found().contains("[ENV-002]"));
    }

    @Test
    void presentVectorModulePasses() {
        JvmChecks.vectorModule(report, true);
        assertEquals(Level.PASS, only().level());
    }

    @Test
    void compilerOtherThanC2IsFound() {
        JvmChecks.compiler(report, "mixed mode", Optional.of("4"), Optional.of("false"));
        JvmChecks.compiler(report, "interpreted mode", Optional.of("4"), Optional.empty());
        JvmChecks.compiler(report, "mixed mode, emulated-client", Optional.of("1"), Optional.empty());
        JvmChecks.compiler(report, "mixed mode", Optional.of("4"), Optional.of("true"));
        JvmChecks.compiler(report, "mixed mode", Optional.empty(), Optional.empty());
        assertEquals(
                List.of(Level.PASS, Level.FAIL, Level.FAIL, Level.WARN, Level.WARN),
                report.findings().stream().map(Finding::level).toList());
    }

    @Test
    void whoMakesTheStartUpCacheIsNamed() throws IOException {
        JvmChecks.startCache(report, "", false);
        assertEquals(List.of(), report.findings(), "no start script");
        JvmChecks.startCache(report, folder.toString(), true);
        CacheMaker.announce(folder, ProcessHandle.current());
        JvmChecks.startCache(report, folder.toString(), true);
        Files.writeString(folder.resolve("maker"), ProcessHandle.current().pid() + " 7\n");
        JvmChecks.startCache(report, folder.toString(), false);
        List<String> found = report.findings().stream().map(Finding::found).toList();
        assertEquals("in use", found.get(0));
        assertTrue(found.get(1).startsWith("process " + ProcessHandle.current().pid() + " makes it"), found.get(1));
        assertEquals("not in use", found.get(2), "an earlier process of that number");
    }

    @Test
    void narrowVectorsAreFound() {
        JvmChecks.vectorBits(report, Optional.of("64"), "amd64");
        JvmChecks.vectorBits(report, Optional.of("32"), "amd64");
        JvmChecks.vectorBits(report, Optional.of("16"), "amd64");
        JvmChecks.vectorBits(report, Optional.of("16"), "aarch64");
        JvmChecks.vectorBits(report, Optional.of("0"), "amd64");
        JvmChecks.vectorBits(report, Optional.empty(), "amd64");
        assertEquals(
                List.of(Level.PASS, Level.PASS, Level.WARN, Level.PASS, Level.FAIL, Level.WARN),
                report.findings().stream().map(Finding::level).toList());
    }

    @Test
    void platformsThatAreNotTestedAreToldWhatWorks() {
        JvmChecks.platform(report, "Linux", "amd64");
        JvmChecks.platform(report, "Linux", "aarch64");
        JvmChecks.platform(report, "Mac OS X", "x86_64");
        JvmChecks.platform(report, "Windows 11", "amd64");
        assertEquals(
                List.of(
                        "PASS Linux amd64 ",
                        "WARN Linux aarch64 is not tested: models run on the CPU with Vector API kernels [ENV-002]"
                                + " The faster machine-code kernels need x86-64 with Linux or macOS.",
                        "WARN Mac OS X x86_64 is not tested: models run on the CPU with generated machine code [ENV-002]"
                                + " GPU backends need Linux.",
                        "WARN Windows 11 amd64 is not tested: models run on the CPU with Vector API kernels [ENV-002]"
                                + " GPU backends need Linux. The faster machine-code kernels need x86-64 with Linux or"
                                + " macOS."),
                report.findings().stream()
                        .map(f -> f.level() + " " + f.found() + " " + f.advice())
                        .toList());
    }

    @Test
    void doctorFailsWithoutBackendAndFormats() {
        TestCli cli = new TestCli(folder);
        TestCli.Result result = cli.run("doctor");
        assertEquals(1, result.status());
        assertTrue(result.out().contains("FAIL  formats"), result.out());
        assertTrue(result.out().contains("FAIL  backends"), result.out());
        assertTrue(result.out().contains("FAIL  default model"), "the test's model is no GGUF: " + result.out());
        assertTrue(result.out().contains("PASS  vector module"), result.out());
        assertTrue(result.out().matches("(?s).*\\d+ passed, \\d+ warnings, \\d+ failed\\n"), result.out());
    }

    @Test
    void doctorShowsWhatBackendsFound() throws IOException {
        TestCli cli = new TestCli(folder);
        cli.engine.backends.add(FakeEngine.FakeBackend.available("cpu-fake"));
        cli.engine.backends.add(new FakeEngine.FakeBackend("gpu-fake", 200, new Probe(false, "no driver", List.of())));
        Issue issue = new Issue(Issue.Severity.WARNING, "X-001", "the board does not answer", "board");
        cli.engine.backends.add(new FakeEngine.FakeBackend("board", -1, new Probe(false, "silent", List.of(issue))));
        cli.engine.backends.add(new FakeEngine.FakeBackend("rare", -1, new Probe(false, "no node", List.of())));
        JsonNode json = new ObjectMapper().readTree(cli.run("doctor", "--json").out());
        List<String> lines = json.valueStream()
                .map(f -> f.get("level").asText() + " " + f.get("name").asText() + " "
                        + f.get("found").asText())
                .toList();
        assertTrue(lines.contains("PASS cpu-fake found a fake processor; Fake 9000"), lines.toString());
        assertTrue(lines.contains("WARN cpu-fake it is slow [ENV-002]"), lines.toString());
        assertTrue(lines.contains("WARN gpu-fake not available: no driver [BACKEND-001]"), lines.toString());
        assertTrue(lines.contains("WARN board the board does not answer [X-001]"), lines.toString());
        assertFalse(lines.stream().anyMatch(l -> l.contains(" rare ")), lines.toString());
        assertFalse(lines.stream().anyMatch(l -> l.startsWith("FAIL backends")), lines.toString());
    }

    @Test
    void devicesAreListedWithTheReasonWhereOneIsMissing() throws IOException {
        TestCli cli = new TestCli(folder);
        cli.engine.backends.add(FakeEngine.FakeBackend.available("cpu-fake"));
        cli.engine.backends.add(new FakeEngine.FakeBackend("gpu-fake", 200, new Probe(false, "no driver", List.of())));
        String out = cli.run("devices").out();
        assertTrue(out.contains("cpu-fake  available  rank 100"), out);
        assertTrue(out.contains("device 0: Fake 9000, 3.00 GiB"), out);
        assertTrue(out.contains("vector bits: 512"), out);
        assertTrue(out.contains("gpu-fake  not available"), out);
        assertTrue(out.contains("no driver"), out);
        JsonNode json = new ObjectMapper().readTree(cli.run("devices", "--json").out());
        assertEquals("512", json.at("/0/devices/0/details/vector bits").asText());
        assertEquals(0, json.at("/1/devices").size());
    }

    @Test
    void checksOfOtherBundlesArePartOfTheReport() {
        DoctorCommand command = new DoctorCommand();
        command.checks = List.of(findings -> findings.fail("toaster", "it is cold", "Heat it."));
        TestCli cli = new TestCli(folder);
        cli.replace("doctor", () -> command);
        String out = cli.run("doctor").out();
        assertTrue(out.contains("FAIL  toaster        it is cold\n"), out);
        assertTrue(out.contains("-> Heat it."), out);
    }
}
