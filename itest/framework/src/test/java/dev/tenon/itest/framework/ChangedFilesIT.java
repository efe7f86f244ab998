package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.RandomAccessFile;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A model whose file is changed while it runs ends its sessions with a code; the JVM and other models go on.
class ChangedFilesIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    @BeforeAll
    static void onLinux() {
        assumeTrue(
                System.getProperty("os.name").equals("Linux"),
                "mapped files are guarded on Linux only; see FaultGuard");
    }

    private static String classPath() {
        return Stream.of(List.of(ChildJvm.testClasses()), Jars.ours(), Jars.libraries())
                .flatMap(List::stream)
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private Path copy(String name) throws Exception {
        Path copy = Files.copy(Jars.model(), folder.resolve(name));
        assertTrue(copy.toFile().setWritable(true));
        return copy;
    }

    @ParameterizedTest
    @CsvSource({
        "auto, truncate, GGUF-010",
        "off, truncate, GGUF-010",
        "auto, overwrite, GGUF-010",
        "auto, replace, generated"
    })
    void theSessionEndsAndOtherModelsGoOn(String kernels, String change, String after) throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                classPath(),
                List.of(
                        "--add-modules",
                        "jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:ErrorFile=" + folder.resolve("hs_err.log"),
                        "-Dtenon.kernels.x86=" + kernels),
                ChangingFiles.class.getName(),
                copy("changed.gguf").toString(),
                copy("other.gguf").toString(),
                change);
        assertEquals(0, result.exitStatus(), result.output());
        assertEquals(List.of("generated"), result.lines("before"), result.output());
        assertEquals(List.of(after), result.lines("after"), result.output());
        assertEquals(List.of(after), result.lines("again"), result.output());
        assertEquals(List.of("generated"), result.lines("other"), result.output());
        try (Stream<Path> files = Files.list(folder)) {
            assertTrue(files.noneMatch(file -> file.getFileName().toString().startsWith("hs_err")));
        }
    }

    @Test
    void aCommandEndsWithOneLine() throws Exception {
        Installation installation = Installation.copy(folder).with("TENON_LOG", "warn");
        Path model = copy("changed.gguf");
        Path err = folder.resolve("err.txt");
        Process process = installation.start(
                err, "run", "-m", model.toString(), "-p", "Once", "-n", "100000", "-c", "120000", "--ignore-eos");
        int exit;
        try (Deadline deadline = new Deadline(process, LIMIT);
                BufferedReader out = process.inputReader()) {
            process.outputWriter().close();
            // The prompt, and the first letters of the text: steps are being run.
            out.skip(20);
            try (RandomAccessFile file = new RandomAccessFile(model.toFile(), "rw")) {
                file.setLength(4096);
            }
            out.transferTo(Writer.nullWriter());
            exit = deadline.await();
        }
        List<String> lines = Files.readAllLines(err);
        assertEquals(1, exit, () -> "standard error: " + lines);
        assertEquals(1, lines.size(), () -> "standard error: " + lines);
        assertTrue(lines.getFirst().endsWith("[GGUF-010]"), lines.getFirst());
    }
}
