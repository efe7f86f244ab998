package dev.tenon.itest.nv.tegra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.emulator.EmulatedOrinProvider;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The commands as the command line runs them, with a console that only prints.
class CommandTests {
    @TempDir
    Path folder;

    private final StringWriter printed = new StringWriter();
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    private int run(String name, TenonCommand command, String... args) {
        PrintWriter out = new PrintWriter(printed);
        Console console = (Console) Proxy.newProxyInstance(
                Console.class.getClassLoader(),
                new Class<?>[] {Console.class},
                (proxy, method, given) -> switch (method.getName()) {
                    case "out" -> out;
                    case "note", "equals", "hashCode", "toString" -> null;
                    default -> throw new UnsupportedOperationException(method.toString());
                });
        CommandLine line = new CommandLine(CommandSpec.wrapWithoutInspection(console));
        line.addSubcommand(name, command);
        line.setExecutionExceptionHandler((e, c, result) -> {
            failure.set(e);
            return 99;
        });
        String[] all = new String[args.length + 1];
        all[0] = name;
        System.arraycopy(args, 0, all, 1, args.length);
        return line.execute(all);
    }

    private static DoctorNvTegraCommand doctor() {
        DoctorNvTegraCommand doctor = new DoctorNvTegraCommand();
        doctor.boards = List.of(new EmulatedOrinProvider());
        return doctor;
    }

    @Test
    void doctorPassesOnTheEmulatedBoardAndWritesWhatItPrints() throws IOException {
        Path report = folder.resolve("report.txt");
        int status = run("nv-tegra", doctor(), "--device", "emulated", "--report", report.toString());
        assertEquals(0, status, String.valueOf(failure.get()));
        assertTrue(printed.toString().contains("PASS      first kernel: 1000 sums"), printed.toString());
        assertEquals(printed.toString(), Files.readString(report));
    }

    @Test
    void anUnknownDeviceIsAMistakeInTheSettings() {
        assertEquals(99, run("nv-tegra", doctor(), "--device", "toaster"));
        TenonException e = (TenonException) failure.get();
        assertEquals(ErrorCode.CONFIG, e.code());
        assertTrue(e.getMessage().contains("'toaster'"), e.getMessage());
    }

    @Test
    void elsewhereDoctorStopsAtTheFirstStep() {
        assumeTrue(!Files.exists(Path.of("/etc/nv_tegra_release")), "skipped: this machine is a Jetson");
        assertEquals(1, run("nv-tegra", doctor()));
        List<String> lines = printed.toString().lines().toList();
        assertTrue(lines.getFirst().startsWith("SURPRISE  release: there is no "), printed.toString());
        assertEquals("          expected: Jetson Linux 36", lines.get(1));
        assertTrue(lines.stream().noneMatch(l -> l.contains("characteristics")), printed.toString());
    }

    @Test
    void whatIsNoStreamCannotBeShownOrReplayed() throws IOException {
        Path file = Files.writeString(folder.resolve("story.txt"), "Once upon a time there was a file.");
        for (String command : List.of("dump", "replay")) {
            assertEquals(99, run("nv", new NvCommand(), command, file.toString()));
            TenonException e = (TenonException) failure.get();
            assertEquals(ErrorCode.IO, e.code());
            assertTrue(e.getMessage().contains("no command stream"), e.getMessage());
        }
    }
}
