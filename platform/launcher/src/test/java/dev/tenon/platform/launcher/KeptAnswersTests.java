package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.Home;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeptAnswersTests {
    /// When a process begins that has missed no change.
    private static final long LATER = System.currentTimeMillis() + TimeUnit.DAYS.toMillis(1);
    private static final String NOTHING = "";
    private static final String HELP = "What tenon does: è\n";

    @TempDir
    Path folder;

    private final Map<String, String> environment = new HashMap<>(Map.of("PWD", "/here", "TERM", "xterm"));
    private Home home;
    private Path kept;

    @BeforeEach
    void install() throws IOException {
        home = new Home(folder.resolve("home"));
        for (Path each : List.of(home.lib(), home.system(), home.extras(), home.deploy(), home.etc())) {
            Files.createDirectories(each);
        }
        for (Path jar : List.of(home.lib().resolve("a.jar"), home.bundles().resolve("b.jar"))) {
            Files.writeString(jar, "jar");
        }
        Files.writeString(home.etc().resolve("dev.tenon.platform.cli.cfg"), "color = ${tenon.test.color}\n");
        kept = folder.resolve("cache/answers");
        System.setProperty("tenon.cache", folder.resolve("cache").toString());
        System.setProperty("tenon.tty", "02");
        System.setProperty("tenon.test.color", "auto");
    }

    @AfterEach
    void forget() {
        List.of("tenon.cache", "tenon.tty", "tenon.test.color").forEach(System::clearProperty);
    }

    private Optional<KeptAnswers> answers(String... args) {
        return KeptAnswers.of(home, environment, LATER, args);
    }

    private void keep(String... args) {
        answers(args).orElseThrow().keep(3, HELP);
    }

    /// {@return standard output of the kept answer; nothing without one}
    private String answer(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        answers(args).orElseThrow().print(out).ifPresent(code -> assertEquals(3, code));
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void anAnswerIsThereForTheSameCallOnly() {
        assertEquals(NOTHING, answer("run", "--help"));
        keep("run", "--help");
        assertEquals(HELP, answer("run", "--help"));
        environment.put("PWD", "/elsewhere");
        assertEquals(HELP, answer("run", "--help"), "in another folder");
        for (String[] other : List.of(new String[] {"run --help"}, new String[] {"run"}, new String[] {})) {
            assertEquals(NOTHING, answer(other), String.join("|", other));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"NO_COLOR", "TENON_COLOR", "TENON_DEBUG", "TENON_LOG", "TERM", "COLUMNS", "JDK_JAVA_OPTIONS"})
    void anotherEnvironmentHasAnotherAnswer(String variable) {
        keep("--help");
        environment.put(variable, "1");
        assertEquals(NOTHING, answer("--help"));
    }

    @Test
    void noArgumentVariableOrSettingIsWritten() throws IOException {
        environment.put("TENON_SERVE_API_KEY", "a-secret");
        System.setProperty("tenon.test.color", "a-secret");
        keep("--help", "a-secret");
        String text = Files.readString(Home.files(kept, "").getFirst());
        assertTrue(text.contains(HELP) && !text.contains("secret"), text);
    }

    @Test
    void aTerminalHasAnotherAnswer() {
        keep("--help");
        System.setProperty("tenon.tty", "012");
        assertEquals(NOTHING, answer("--help"));
    }

    @Test
    void whatASettingStandsForBelongsToTheCall() {
        keep("--help");
        System.setProperty("tenon.test.color", "always");
        assertEquals(NOTHING, answer("--help"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"lib/a.jar", "bundles/b.jar", "etc/dev.tenon.platform.cli.cfg"})
    void aChangedFileEndsAnAnswerEvenWithTheSameSizeAndDate(String name) throws IOException {
        keep("--help");
        Path file = home.root().resolve(name);
        FileTime date = Files.getLastModifiedTime(file);
        Path fresh = folder.resolve("fresh");
        Files.writeString(fresh, Files.readString(file).replace('a', 'e'));
        Files.setLastModifiedTime(fresh, date);
        Files.delete(file);
        Files.move(fresh, file);
        assertEquals(date, Files.getLastModifiedTime(file));
        assertEquals(NOTHING, answer("--help"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"bundles/c.jar", "bundles/system/c.jar", "bundles/extras/c.jar", "deploy/c.jar", "etc/c.cfg"})
    void aFileThatComesOrGoesEndsAnAnswer(String name) throws IOException {
        keep("--help");
        Files.writeString(home.root().resolve(name), "a = b");
        assertEquals(NOTHING, answer("--help"), "it came");
        keep("--help");
        assertEquals(HELP, answer("--help"));
        Files.delete(home.root().resolve(name));
        assertEquals(NOTHING, answer("--help"), "it went");
    }

    @Test
    void anAnswerIsNotKeptIfSomethingMayHaveChangedMeanwhile() throws IOException {
        Path jar = Files.writeString(home.deploy().resolve("c.jar"), "jar");
        FileTime changed = (FileTime) Files.getAttribute(jar, "unix:ctime");
        KeptAnswers.of(home, environment, changed.toMillis(), "--help")
                .orElseThrow()
                .keep(3, HELP);
        assertEquals(NOTHING, answer("--help"), "it came");
        keep("--help");
        Files.delete(home.bundles().resolve("b.jar"));
        FileTime gone = (FileTime) Files.getAttribute(home.bundles(), "unix:ctime");
        KeptAnswers.of(home, environment, gone.toMillis(), "--help")
                .orElseThrow()
                .keep(3, HELP);
        assertEquals(NOTHING, answer("--help"), "it went");
    }

    @Test
    void nothingIsKeptWhereBundlesHaveToBeTrusted() {
        keep("--help");
        environment.put("TENON_BUNDLES_TRUST", "listed");
        keep("--help");
        assertEquals(NOTHING, answer("--help"));
        environment.remove("TENON_BUNDLES_TRUST");
        assertEquals(HELP, answer("--help"));
    }

    @Test
    void nothingIsKeptWithoutACacheOrForWhatOtherFilesSay() throws IOException {
        assertEquals(Optional.empty(), answers("run", "@arguments"));
        environment.put("TENON_AOT", "off");
        assertEquals(Optional.empty(), answers("--help"));
        environment.remove("TENON_AOT");
        Files.writeString(home.etc().resolve("a.config"), "a=\"$[env:B]\"");
        keep("--help");
        assertEquals(NOTHING, answer("--help"));
        Files.delete(home.etc().resolve("a.config"));
        System.setProperty("tenon.cache", "");
        assertEquals(Optional.empty(), answers("--help"));
    }

    @Test
    void aDamagedFileIsNoAnswer() throws IOException {
        keep("--help");
        Path file = Home.files(kept, "").getFirst();
        byte[] good = Files.readAllBytes(file);
        for (int at = 0; at < good.length; at++) {
            byte[] bad = good.clone();
            bad[at] ^= 1;
            Files.write(file, bad);
            assertEquals(NOTHING, answer("--help"), "byte " + at);
        }
        for (int length = 0; length < good.length; length += 50) {
            Files.write(file, List.of(new String(good, 0, length, StandardCharsets.ISO_8859_1)));
            assertEquals(NOTHING, answer("--help"), length + " bytes");
        }
        keep("--help");
        assertEquals(HELP, answer("--help"));
        Files.delete(file);
        Files.createDirectory(file);
        assertEquals(NOTHING, answer("--help"), "a folder");
        keep("--help"); // which is no failure
        System.setProperty(
                "tenon.cache", Files.writeString(folder.resolve("file"), "").toString());
        keep("--help");
        assertEquals(NOTHING, answer("--help"));
    }

    @Test
    void anAnswerThatCannotBePrintedIsLeftToTheCommandLine() {
        keep("--help");
        OutputStream full = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        assertTrue(answers("--help").orElseThrow().print(full).isEmpty());
    }

    @Test
    void thereAreNotTooManyNorTooLongOnes() {
        for (int i = 0; i < 450; i++) {
            keep("typo" + i);
            assertEquals(HELP, answer("typo" + i));
            assertTrue(Home.files(kept, "").size() <= 200);
        }
        answers("long").orElseThrow().keep(3, HELP.repeat(100_000));
        assertEquals(NOTHING, answer("long"));
    }
}
