package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelOptionsTests {
    private static final String COMMAND = "-XX:CompileCommand=";

    /// The annotations' own source: the launcher does not see the api.
    private static final String SOURCE = """
            package dev.tenon.api.kernel.cpu;
            import java.lang.annotation.*;
            @Retention(RetentionPolicy.CLASS) @interface ForceInline {}
            @Retention(RetentionPolicy.CLASS) @interface CompileThresholdScaling { double value(); }
            @interface Other { double value(); }
            """;

    @TempDir
    Path folder;

    @Test
    void annotatedMethodsAndClassesAreNamedAndOthersAreNot() throws IOException {
        Path jar = jar("""
                class Kernel {
                    @ForceInline static void part() {}
                    @ForceInline static void part(int i) {}
                    @Other(1) static void other() {}
                    @ForceInline static class Helper {}
                    @CompileThresholdScaling(0.03) class Hot {
                        @CompileThresholdScaling(10) @ForceInline void cold() {}
                    }
                }
                """);

        String kernel = "dev.tenon.api.kernel.cpu.Kernel";
        assertEquals(
                List.of(
                        COMMAND + "CompileThresholdScaling," + kernel + "$Hot::*,0.03",
                        COMMAND + "CompileThresholdScaling," + kernel + "$Hot::cold,10.0",
                        COMMAND + "inline," + kernel + "$Helper::*",
                        COMMAND + "inline," + kernel + "$Hot::cold",
                        COMMAND + "inline," + kernel + "::part"),
                List.copyOf(KernelOptions.of(jar)));
    }

    @Test
    void nameThatIsNoPatternOfTheOptionIsLeftOut() throws IOException {
        Path jar = jar("@ForceInline class Größe { @ForceInline void ascii() {} }");

        assertEquals(List.of(), List.copyOf(KernelOptions.of(jar)));
    }

    @Test
    void textComesFirstAndAPathOfJarsMayNameOtherThings() throws IOException {
        Path text = Files.writeString(folder.resolve("some.options"), "# text\n-Xmx1g\n");
        Path jar = jar("@ForceInline class A {}");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            KernelOptions.main(new String[] {text.toString(), folder + File.pathSeparator + jar});
        } finally {
            System.setOut(before);
        }

        assertEquals(
                List.of("# text", "-Xmx1g", COMMAND + "inline,dev.tenon.api.kernel.cpu.A::*"),
                bytes.toString(StandardCharsets.UTF_8).lines().toList());
    }

    private Path jar(String source) throws IOException {
        return new FakeBundle("fake.kernels")
                .type("dev.tenon.api.kernel.cpu.Sources", SOURCE + source)
                .write(folder.resolve("kernels.jar"));
    }
}
