package dev.tenon.platform.bundles.dev;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The project, the steps and their logs of `tenon dev`.
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DevTests {
    @TempDir
    Path folder;

    private Path program(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n");
        assertTrue(file.toFile().setExecutable(true));
        return file;
    }

    private BundleProject project(Map<String, String> variables) {
        return BundleProject.in(folder, null, folder.resolve("java"), variables);
    }

    private void refused(String code, String text, Map<String, String> variables) {
        TenonException e = assertThrows(TenonException.class, () -> project(variables));
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }

    @Test
    void theWrapperBuildsElseMavenAndWhatIsMissingIsNamed() throws Exception {
        assumeTrue(File.separatorChar == '/', "programs have other names on Windows");
        refused(ErrorCode.USAGE, "There is no pom.xml in " + folder, Map.of());
        Files.writeString(folder.resolve("pom.xml"), "<project/>");
        refused(ErrorCode.USAGE, "neither mvnw", Map.of("PATH", "/nowhere"));
        Path maven = program("maven/mvn");
        Map<String, String> path = Map.of("PATH", "/nowhere:" + maven.getParent());
        refused(ErrorCode.ENV_JDK, "no compiler", path);
        program("java/bin/javac");
        assertEquals(maven.toString(), project(path).build().getFirst());
        assertEquals(
                Map.of("JAVA_HOME", folder.resolve("java").toString()),
                project(path).environment());
        Path wrapper = program("mvnw");
        assertEquals(wrapper.toString(), project(path).build().getFirst());
        assertEquals("verify", project(path).build().getLast());
    }

    @Test
    void aCommandOfOnesOwnNeedsNoMaven() {
        BundleProject own = BundleProject.in(folder, "gradle build", folder, Map.of());
        assertEquals("gradle build", own.build().getLast());
        assertEquals(folder.resolve("build/tenon-dev"), own.logs());
    }

    @Test
    void theNewestJarIsTheBundle() throws Exception {
        Files.writeString(folder.resolve("pom.xml"), "<project/>");
        BundleProject project = BundleProject.in(folder, "true", folder, Map.of());
        assertEquals(
                ErrorCode.BUNDLE_FILE,
                assertThrows(TenonException.class, project::jar).code());
        Files.createDirectories(folder.resolve("target"));
        long day = 0;
        for (String name : List.of("my-1.jar", "my-2.jar", "my-2-sources.jar", "my-2-javadoc.jar", "my.txt")) {
            Path file = Files.writeString(folder.resolve("target").resolve(name), "");
            Files.setLastModifiedTime(file, FileTime.from(++day, TimeUnit.DAYS));
        }
        assertEquals(folder.resolve("target/my-2.jar"), project.jar());
    }

    @Test
    void theStampChangesWithSourcesAndNotWithWhatIsBuilt() throws Exception {
        BundleProject project = BundleProject.in(folder, "true", folder, Map.of());
        long empty = project.stamp();
        Path source = folder.resolve("src/main/java/A.java");
        Files.createDirectories(source.getParent());
        assertEquals(empty, project.stamp(), "no file yet");
        Files.writeString(source, "class A {}");
        long one = project.stamp();
        assertNotEquals(empty, one);
        Files.createDirectories(folder.resolve("target/classes"));
        Files.writeString(folder.resolve("target/classes/A.class"), "code");
        Files.writeString(folder.resolve("hs_err_pid1.log"), "a crash");
        assertEquals(one, project.stamp());
        Files.setLastModifiedTime(source, FileTime.from(1, TimeUnit.DAYS));
        long touched = project.stamp();
        assertNotEquals(one, touched);
        Files.writeString(folder.resolve("pom.xml"), "<project/>");
        assertNotEquals(touched, project.stamp());
    }

    @Test
    void aStepKeepsItsLog() throws Exception {
        assumeTrue(File.separatorChar == '/', "needs a shell");
        Steps steps = new Steps(folder, folder.resolve("logs"));
        Steps.Result result =
                steps.run("build", List.of("sh", "-c", "echo $WORD; echo two >&2; pwd; exit 3"), Map.of("WORD", "one"));
        assertEquals(3, result.status());
        assertEquals(List.of("one", "two", folder.toRealPath().toString()), result.lines());
        assertEquals(result.lines(), Files.readAllLines(folder.resolve("logs/build.log")));
        assertEquals(
                ErrorCode.IO,
                assertThrows(TenonException.class, () -> steps.run("none", List.of("/no/such"), Map.of()))
                        .code());
    }

    @Test
    void stoppingEndsTheStepWithItsProcesses() throws Exception {
        assumeTrue(File.separatorChar == '/', "needs a shell");
        Steps steps = new Steps(folder, folder);
        Path pid = folder.resolve("pid");
        String child = "sleep 600 & echo $! > pid.part; mv pid.part pid; wait";
        FutureTask<Steps.Result> task =
                new FutureTask<>(() -> steps.run("build", List.of("sh", "-c", child), Map.of()));
        Thread.ofPlatform().start(task);
        while (!Files.exists(pid)) {
            Thread.onSpinWait();
        }
        ProcessHandle sleep =
                ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
        steps.stop();
        assertNotEquals(0, task.get().status());
        sleep.onExit().get();
        assertTrue(steps.isStopped());
        assertFalse(steps.pause(600_000), "no waiting after that");
        assertNotEquals(0, steps.run("next", List.of("sleep", "600"), Map.of()).status(), "no step begins after that");
    }

    private static Steps.Result result(String... lines) {
        return new Steps.Result(1, List.of(lines), Path.of("log"));
    }

    @Test
    void theFirstUsefulLineOfABuild() {
        String[] compiler = {
            "[INFO] Compiling 3 source files",
            "[ERROR] COMPILATION ERROR : ",
            "[ERROR] /p/src/main/java/A.java:[12,5] ';' expected",
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.14.1:compile"
        };
        assertEquals("/p/src/main/java/A.java:[12,5] ';' expected", StepLog.BUILD.failure(result(compiler)));
        String[] test = {
            "[ERROR] Tests run: 19, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in ATests",
            "\tat ATests.it(ATests.java:17)",
            "[ERROR] Failures: ",
            "[ERROR]   ATests.it:17 expected: <1> but was: <2>",
            "[ERROR] Failed to execute goal"
        };
        assertEquals("ATests.it:17 expected: <1> but was: <2>", StepLog.BUILD.failure(result(test)));
        String[] jdk = {
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:3.6.2:enforce (jdk): ",
            "[ERROR] Rule 0: RequireJavaVersion failed with message:",
            "[ERROR] This bundle is built with a JDK 25"
        };
        assertEquals("This bundle is built with a JDK 25", StepLog.BUILD.failure(result(jdk)));
        assertEquals("A.java:3: error: what", StepLog.BUILD.failure(result("> Task", "A.java:3: error: what", "end")));
        assertEquals("no JDK. [ENV-001]", StepLog.BUILD.failure(result("tenon: no JDK. [ENV-001]")));
        assertEquals("the last", StepLog.BUILD.failure(result("one", "the last", "")));
        assertEquals("status 1", StepLog.BUILD.failure(result()));
        assertEquals(
                "19",
                StepLog.BUILD.success(result(
                        "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0 -- in ATests",
                        "[INFO] Tests run: 19, Failures: 0, Errors: 0, Skipped: 1")));
        assertEquals("", StepLog.BUILD.success(result("[INFO] Tests are skipped.")));
    }

    @Test
    void theUsefulLinesOfTheOtherSteps() {
        assertEquals(
                "blocksDecode: size 1 off by 2",
                StepLog.CONTRACT.failure(result("FAILED blocksDecode: size 1", "    off by 2", "9 passed, 1 failed")));
        assertEquals("It is no bundle", StepLog.CONTRACT.failure(result("tenon: It is no bundle")));
        assertEquals(
                "9 passed, 0 failed, 1 skipped",
                StepLog.CONTRACT.success(result("", "9 passed, 0 failed, 1 skipped in 0.3 s")));
        assertEquals(
                "First divergence: layer 1, op add",
                StepLog.COMPARE.failure(result("x", "First divergence: layer 1, op add", "Worst at")));
        assertEquals("9 ops compared, none diverges", StepLog.COMPARE.success(result("9 ops compared, none diverges")));
    }
}
