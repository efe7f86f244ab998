package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.Home;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The argument files of the distribution.
class ArgumentFilesIT {
    private static final Path HOME = Path.of(System.getProperty("tenon.test.home"));
    private static final Pattern COMMAND =
            Pattern.compile("-XX:CompileCommand=(?:inline|CompileThresholdScaling),([^:]+)::([^,]+)(?:,[0-9.]+)?");

    @Test
    void eachCommandNamesMethodsThatAreThere() throws IOException {
        Map<String, Set<String>> methods = methods();
        List<String> missing = new ArrayList<>();
        for (String option : commands("launcher.options")) {
            Matcher matcher = COMMAND.matcher(option);
            assertTrue(matcher.matches(), option);
            Set<String> found = methods.getOrDefault(matcher.group(1), Set.of());
            if (!found.contains(matcher.group(2))
                    && (found.isEmpty() || !matcher.group(2).equals("*"))) {
                missing.add(option);
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void bothFilesHoldTheCommandsOfAllAnnotationsInTheJars() throws IOException {
        Set<String> annotated = new TreeSet<>();
        for (Path jar : Home.files(HOME.resolve("bundles"), ".jar")) {
            annotated.addAll(KernelOptions.of(jar));
        }
        // Without these, kernels make objects of their vectors; a build that found no annotation would say nothing.
        for (String option : List.of(
                "=inline,dev\\.tenon\\..*\\.VectorExp::\\*",
                "=CompileThresholdScaling,dev\\.tenon\\..*\\.VectorAttention::\\*,0\\.03")) {
            assertTrue(annotated.stream().anyMatch(each -> each.matches("-XX:CompileCommand" + option)), option);
        }

        assertEquals(annotated, new TreeSet<>(commands("tenon.options")));
        Set<String> ours = new TreeSet<>(commands("launcher.options"));
        ours.removeIf(option -> !option.contains(",dev.tenon."));
        assertEquals(annotated, ours);
    }

    @Test
    void fileForOthersHoldsNothingThatIsTheScripts() throws IOException {
        assertEquals(
                List.of(
                        "--add-modules=jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:CompileCommand=quiet"),
                lines("tenon.options")
                        .filter(line -> !COMMAND.matcher(line).matches())
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tenon.options", "launcher.options"})
    void javaTakesTheFileWithoutAWord(String file) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "@" + HOME.resolve("lib").resolve(file),
                        "-version")
                .redirectErrorStream(true)
                .start();
        List<String> output =
                process.inputReader(StandardCharsets.UTF_8).lines().collect(Collectors.toList());
        assertEquals(0, process.waitFor(), output::toString);
        // Wrong commands for the compiler are told here, and left out.
        output.remove("WARNING: Using incubator modules: jdk.incubator.vector");
        assertEquals(3, output.size(), output::toString);
        assertTrue(output.getFirst().contains(" version \""), output::toString);
    }

    private static Stream<String> lines(String file) throws IOException {
        return Files.readAllLines(HOME.resolve("lib").resolve(file)).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"));
    }

    private static List<String> commands(String file) throws IOException {
        return lines(file)
                .filter(line -> line.startsWith("-XX:CompileCommand=") && !line.endsWith("=quiet"))
                .toList();
    }

    /// The methods of the distribution's classes, and of those of the JDK that are named.
    private static Map<String, Set<String>> methods() throws IOException {
        Map<String, Set<String>> methods = new HashMap<>();
        methods.put("java.util.StringTokenizer", Set.of("nextToken"));
        for (String folder : List.of("lib", "bundles")) {
            for (Path jar : Home.files(HOME.resolve(folder), ".jar")) {
                try (JarFile file = new JarFile(jar.toFile())) {
                    for (var entry : file.stream().toList()) {
                        if (entry.getName().endsWith(".class")) {
                            ClassModel type = ClassFile.of()
                                    .parse(file.getInputStream(entry).readAllBytes());
                            methods.put(
                                    type.thisClass().asInternalName().replace('/', '.'),
                                    type.methods().stream()
                                            .map(method -> method.methodName().stringValue())
                                            .collect(Collectors.toSet()));
                        }
                    }
                }
            }
        }
        return methods;
    }
}
