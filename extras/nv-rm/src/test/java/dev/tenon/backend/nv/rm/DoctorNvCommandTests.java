package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The command as the command line runs it, with a console that only prints.
class DoctorNvCommandTests {
    private final StringWriter printed = new StringWriter();
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    private int run(String... args) {
        PrintWriter out = new PrintWriter(printed);
        Console console = (Console) Proxy.newProxyInstance(
                Console.class.getClassLoader(),
                new Class<?>[] {Console.class},
                (proxy, method, given) -> switch (method.getName()) {
                    case "out" -> out;
                    case "equals", "hashCode", "toString" -> null;
                    default -> throw new UnsupportedOperationException(method.toString());
                });
        return new CommandLine(CommandSpec.wrapWithoutInspection(console))
                .addSubcommand("nv", new DoctorNvCommand())
                .setExecutionExceptionHandler((e, c, result) -> {
                    failure.set(e);
                    return 99;
                })
                .execute(args);
    }

    @Test
    void itIsRefusedWithoutItsSwitch() {
        assertEquals(99, run("nv"));
        assertEquals(ErrorCode.CONFIG, ((TenonException) failure.get()).code());
        assertTrue(
                failure.get().getMessage().contains("nv.rm=on"), failure.get().getMessage());
        assertEquals("", printed.toString());
    }

    @Test
    void itSaysThatThereIsNoDriver() {
        assumeTrue(!Files.exists(Path.of("/dev/nvidiactl")), "skipped: this machine has NVIDIA's driver");
        assertEquals(1, run("nv", "--set", "nv.rm=on"));
        assertTrue(printed.toString().startsWith("SURPRISE"), printed.toString());
        assertTrue(
                printed.toString().contains("/dev/nvidiactl")
                        || printed.toString().contains("Linux"),
                printed.toString());
    }
}
