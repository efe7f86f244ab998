package dev.tenon.platform.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.main.TestCli;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class TerminalTests {
    @TempDir
    Path folder;

    static void raiseInterrupt() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Signal");
        type.getMethod("raise", type)
                .invoke(null, type.getConstructor(String.class).newInstance("INT"));
    }

    /// A process that is started with SIGINT ignored, as background jobs of a shell are, never sees
    /// Ctrl-C; the JVM leaves that as it is.
    private static void assumeInterruptsArrive() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (Files.exists(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("SigIgn:")) {
                    long ignored = Long.parseUnsignedLong(line.substring(7).strip(), 16);
                    assumeTrue((ignored & 1 << 2 - 1) == 0, "this process was started with SIGINT ignored");
                }
            }
        }
    }

    @Test
    void interruptCallsTheActionInsteadOfEndingTheProcess() throws Exception {
        assumeInterruptsArrive();
        CountDownLatch called = new CountDownLatch(1);
        try (InterruptWatch watch = new InterruptWatch("INT", CliErrors.INTERRUPTED, called::countDown)) {
            assertFalse(watch.happened());
            raiseInterrupt();
            assertTrue(called.await(5, TimeUnit.MINUTES));
            assertTrue(watch.happened());
        }
    }

    @Test
    void interruptedRunPrintsWhatIsThereAndEndsWith130() throws IOException {
        assumeInterruptsArrive();
        TestCli cli = new TestCli(folder);
        cli.engine.answer = text -> {
            interrupt(cli);
            return " there was a fox.";
        };
        TestCli.Result result = cli.run("run", "-p", "Once");
        assertEquals(130, result.status(), result.err());
        assertEquals("Once \n", result.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "chat"})
    void aSignalBeforeTheGenerationEndsIt(String command) throws IOException {
        assumeInterruptsArrive();
        TestCli cli = new TestCli(folder);
        cli.stdin = "Once".getBytes(StandardCharsets.UTF_8);
        cli.engine.beforeGeneration = () -> interrupt(cli);
        TestCli.Result result = cli.run(command);
        assertEquals(command.equals("run") ? 130 : 0, result.status(), result.err());
        assertEquals(command.equals("run") ? "Once \n" : " \n", result.out());
    }

    /// Raises the signal, and waits until the command has heard it.
    private static void interrupt(TestCli cli) {
        try {
            raiseInterrupt();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        while (cli.engine.cancels == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void propertyTellsWhichStreamsAreTerminals() {
        String before = System.getProperty("tenon.tty");
        try {
            System.setProperty("tenon.tty", "02");
            assertTrue(Terminals.isTerminal(0));
            assertFalse(Terminals.isTerminal(1));
            assertTrue(Terminals.isTerminal(2));
            System.setProperty("tenon.tty", "");
            assertFalse(Terminals.isTerminal(0));
        } finally {
            if (before == null) {
                System.clearProperty("tenon.tty");
            } else {
                System.setProperty("tenon.tty", before);
            }
        }
    }

    @Test
    void progressBarAppearsOnlyAfterAWhile() throws InterruptedException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        long anHour = Duration.ofHours(1).toMillis();
        try (Progress bar = new BarProgress("quick", 10, "runs", out, 79, anHour)) {
            bar.to(10);
        }
        assertEquals("", bytes.toString(StandardCharsets.UTF_8));
        assertTrue(BarProgress.DELAY_MILLIS >= 500, "a task that most people would not wait for");
        try (Progress bar = new BarProgress("slow", 10, "runs", out, 79)) {
            bar.to(4);
            for (int i = 0; i < 6000 && !bytes.toString(StandardCharsets.UTF_8).contains("4/10"); i++) {
                Thread.sleep(50);
            }
        }
        String shown = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(shown.contains("slow") && shown.contains("4/10"), shown);
        assertFalse(shown.contains("\n"), "the bar leaves no line behind: " + shown);
    }

    @Test
    void progressSaysSizesRateAndTimeLeft() {
        assertEquals(
                "m.gguf  25% [####               ]  1.00 GiB of 4.00 GiB  32.00 MiB/s  1:36 left",
                BarProgress.line("m.gguf", "bytes", 1L << 30, 4L << 30, 32 << 20, 32, 79));
        assertEquals("load m.gguf  0:12", BarProgress.line("load m.gguf", "", 0, -1, 0, 11.4, 79));
        assertEquals("load m.gguf  0:12", BarProgress.line("load m.gguf", "", 0, 0, 0, 11.4, 79));
        assertEquals(
                "synth  512.00 KiB  256.00 KiB/s  1:01:05",
                BarProgress.line("synth", "bytes", 512 << 10, -1, 256 << 10, 3665, 79));
        assertEquals("prompt   0%  0/8 tokens  0:01", BarProgress.line("prompt", "tokens", 0, 8, 0, 0.5, 30));
        assertEquals(
                20, BarProgress.line("x".repeat(50), "bytes", 1, 2, 1, 1, 20).length());
    }

    @Test
    void remarksAreDimOnATerminalThatMayHaveColours() {
        TestCli cli = new TestCli(folder);
        cli.errTerminal = true;
        boolean allowed = System.getenv("NO_COLOR") == null && !"dumb".equals(System.getenv("TERM"));
        assertEquals(allowed, cli.run("run", "-p", "x").err().contains("\u001b[2m"));
        assertFalse(cli.run("run", "-p", "x", "--no-color").err().contains("\u001b["));
        cli.errTerminal = false;
        assertFalse(cli.run("run", "-p", "x").err().contains("\u001b["));
    }

    @Test
    void swappedLettersAreOneMistake() {
        assertEquals(1, EditDistance.of("--tmep", "--temp"));
        assertEquals(3, EditDistance.of("kitten", "sitting"));
        assertEquals(4, EditDistance.of("", "word"));
    }
}
