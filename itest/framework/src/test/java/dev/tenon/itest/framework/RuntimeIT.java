package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The distribution on a runtime that has nothing but the modules it asks for, made by `jlink`.
class RuntimeIT {
    /// Not required by a module of ours, but asked about the JVM where it is there: `tenon doctor`
    /// knows less without.
    private static final Set<String> OPTIONAL = Set.of("jdk.management");

    @TempDir
    static Path shared;

    @TempDir
    Path folder;

    private static Path runtime;

    @BeforeAll
    static void linkRuntime() throws IOException {
        runtime = link(shared.resolve("runtime"), modules());
    }

    @Test
    void modulesAreThoseThatOurJarsRequire() throws IOException {
        Set<String> required = new TreeSet<>(OPTIONAL);
        for (Path jar : Jars.oursAndLauncher()) {
            ModuleFinder.of(jar).findAll().iterator().next().descriptor().requires().stream()
                    .filter(module -> !module.modifiers().contains(Requires.Modifier.STATIC))
                    .map(Requires::name)
                    .filter(name -> name.matches("(java|jdk)\\..*") && !name.equals("java.base"))
                    .forEach(required::add);
        }

        assertEquals(required, new TreeSet<>(modules()), "tenon_modules of find-java.sh");
    }

    @Test
    void scriptRunsOnTheRuntime() throws Exception {
        Installation tenon = Installation.copy(folder).with("TENON_JAVA_HOME", runtime.toString());

        Installation.Result run = tenon.tenon("run", "-n", "5", "-p", "Once");
        assertEquals(0, run.code(), run::toString);
        assertTrue(run.out().startsWith("Once ") && run.out().length() > 10, run::toString);

        Installation.Result doctor = tenon.tenon("doctor");
        assertEquals(0, doctor.code(), doctor::toString);
        assertTrue(doctor.out().contains("all running"), doctor::toString);
        assertFalse(doctor.out().contains("ENV-"), doctor::toString);
    }

    @Test
    void chatRunsOnTheRuntime() throws Exception {
        Installation tenon = Installation.copy(folder).with("TENON_JAVA_HOME", runtime.toString());
        Path err = folder.resolve("err");
        Process chat = tenon.start(err, "chat", "-n", "5");
        chat.outputWriter().write("Hello\n");
        chat.outputWriter().close();
        String out = new String(chat.getInputStream().readAllBytes());

        assertEquals(0, chat.waitFor(), () -> read(err));
        assertFalse(out.isBlank(), () -> read(err));
    }

    @Test
    void programThatEmbedsTenonRunsWithTheArgumentFile() throws Exception {
        String jars = Stream.concat(Jars.ours().stream(), Jars.libraries().stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        ChildJvm.Result result = ChildJvm.java(
                runtime,
                List.of(
                        "@" + Jars.distribution().resolve("lib/tenon.options"),
                        "-cp",
                        ChildJvm.testClasses() + File.pathSeparator + jars,
                        EmbeddedProgram.class.getName(),
                        Jars.distribution()
                                .resolve("models/story-qwen3-q4_k_m.gguf")
                                .toString()));

        assertEquals(0, result.exitStatus(), result.output());
        assertEquals(5, result.lines("token").size(), result.output());
    }

    @Test
    void picturesNeedAModuleMore() throws Exception {
        List<String> files = new ArrayList<>();
        for (String format : List.of("png", "jpg", "gif", "bmp")) {
            files.add(folder.resolve("a." + format).toString());
            BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
            assertTrue(ImageIO.write(image, format, new File(files.getLast())), format);
        }
        List<String> all = new ArrayList<>(modules());
        all.add("java.desktop");

        ChildJvm.Result refused = pictures(runtime, files);
        assertEquals(0, refused.exitStatus(), refused.output());
        List<String> lines = refused.lines("refused");
        assertEquals(files.size(), lines.size(), refused.output());
        assertTrue(
                lines.stream()
                        .allMatch(
                                line -> line.contains("no working module java.desktop") && line.contains("MEDIA-001")),
                refused.output());

        ChildJvm.Result read = pictures(link(folder.resolve("more"), all), files);
        assertEquals(0, read.exitStatus(), read.output());
        assertEquals(files.size(), read.lines("read").size(), read.output());
    }

    private static ChildJvm.Result pictures(Path java, List<String> files) throws Exception {
        String jars = Stream.concat(Jars.ours().stream(), Jars.libraries().stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator, ChildJvm.testClasses() + File.pathSeparator, ""));
        List<String> options =
                new ArrayList<>(List.of("-Djava.awt.headless=true", "-cp", jars, PictureProgram.class.getName()));
        options.addAll(files);
        return ChildJvm.java(java, options);
    }

    @Test
    void missingModuleIsToldInOneLine() throws Exception {
        Path small = Files.createDirectories(folder.resolve("small/bin"));
        Files.writeString(small.resolve("java"), "").toFile().setExecutable(true);
        Files.writeString(small.resolveSibling("release"), "JAVA_VERSION=\"25.0.1\"\nMODULES=\"java.base java.xml\"\n");
        ProcessBuilder builder = new ProcessBuilder(
                        "/bin/sh",
                        "-c",
                        // The folders where the script looks by itself are those of this machine: none of them here.
                        "sed 's#/usr/[a-z/]*/\\*##; s#/opt/[a-z/]*\\*##g' \"$0/bin/find-java.sh\" > \"$1\""
                                + " && . \"$1\" && PATH= tenon_find_java runtime",
                        Jars.distribution().toString(),
                        folder.resolve("find-java.sh").toString())
                .redirectErrorStream(true);
        builder.environment().put("TENON_JAVA_HOME", small.getParent().toString());
        builder.environment().put("JAVA_HOME", folder.toString());
        builder.environment().put("HOME", folder.toString());
        Process process = builder.start();
        List<String> output = process.inputReader().lines().toList();

        assertEquals(1, process.waitFor(), output::toString);
        assertEquals(1, output.size(), output::toString);
        assertTrue(output.getFirst().contains("without the modules"), output::toString);
        assertTrue(output.getFirst().contains(" jdk.incubator.vector"), output::toString);
        assertFalse(output.getFirst().contains(" java.xml"), output::toString);
        assertTrue(output.getFirst().endsWith("[ENV-001]"), output::toString);
    }

    private static List<String> modules() throws IOException {
        String script = Files.readString(Jars.distribution().resolve("bin/find-java.sh"));
        Matcher matcher = Pattern.compile("tenon_modules=\"([^\"]*)\"").matcher(script);
        assertTrue(matcher.find(), script);
        return List.of(matcher.group(1).replace("\\\n", "").split(" +"));
    }

    private static Path link(Path image, List<String> modules) {
        ToolProvider jlink = ToolProvider.findFirst("jlink").orElse(null);
        assumeTrue(jlink != null, "this JDK has no jlink");
        modules.forEach(name -> assertTrue(ModuleFinder.ofSystem().find(name).isPresent(), name));
        StringWriter output = new StringWriter();
        PrintWriter out = new PrintWriter(output, true);
        int status = jlink.run(out, out, "--add-modules", String.join(",", modules), "--output", image.toString());
        assumeTrue(status == 0, () -> "jlink makes no runtime of this JDK: " + output);
        return image;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
