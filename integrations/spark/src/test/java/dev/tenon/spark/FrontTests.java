package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a driver loads is of Java 17 and names no class of the engine; the other side names the front door alone.
class FrontTests {
    private static final Path CLASSES = Path.of("target/classes");
    private static final Pattern OURS = Pattern.compile("dev/tenon/(?:[a-z0-9]+/)*[A-Z]\\w*");

    @TempDir
    Path folder;

    private static List<String> classes(boolean ofTheEngine, int version, Pattern allowed) throws IOException {
        List<String> wrong = new ArrayList<>();
        int seen = 0;
        for (Path file : files(CLASSES.resolve("dev/tenon/spark"))) {
            String name = CLASSES.relativize(file).toString().replace('\\', '/');
            if (!name.endsWith(".class") || name.contains("/engine/") != ofTheEngine) {
                continue;
            }
            seen++;
            ClassModel model = ClassFile.of().parse(file);
            if (model.majorVersion() != version) {
                wrong.add(name + " has version " + model.majorVersion());
            }
            for (PoolEntry entry : model.constantPool()) {
                if (entry instanceof Utf8Entry text) {
                    OURS.matcher(text.stringValue())
                            .results()
                            .map(found -> found.group())
                            .filter(found -> !allowed.matcher(found).lookingAt())
                            .forEach(found -> wrong.add(name + " names " + found));
                }
            }
        }
        assertTrue(seen > 1, "found " + seen + " classes");
        return wrong;
    }

    private static List<Path> files(Path top) throws IOException {
        try (Stream<Path> files = Files.walk(top)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void theFrontIsOfJava17AndNamesNoEngine() throws IOException {
        assertEquals(List.of(), classes(false, ClassFile.JAVA_17_VERSION, Pattern.compile("dev/tenon/spark/[A-Z]")));
    }

    @Test
    void theEngineIsUsedThroughTheFrontDoor() throws IOException {
        Pattern door = Pattern.compile("dev/tenon/([A-Z]|spark/|api/)");
        assertEquals(List.of(), classes(true, ClassFile.JAVA_25_VERSION, door));
    }

    /// A JDK 17 that is installed beside the one that runs this.
    private static Optional<Path> java17() throws IOException {
        try (Stream<Path> others =
                Files.list(Path.of(System.getProperty("java.home")).getParent())) {
            return others.filter(each -> each.getFileName().toString().contains("17"))
                    .filter(each -> Files.isExecutable(each.resolve("bin/java")))
                    .findFirst();
        }
    }

    /// Long, as a driver and an executor are started. Also, that the jars are those that the page says, behind Spark's.
    @Test
    @Tag("long")
    @Timeout(300)
    void aDriverOfJava17SubmitsToExecutorsOfJava25() throws Exception {
        Optional<Path> old = java17();
        assumeTrue(old.isPresent(), "There is no JDK 17 beside this one.");
        Path home = Path.of("target/spark-of-links").toAbsolutePath();
        Files.createDirectories(home.resolve("jars"));
        String path = System.getProperty("java.class.path");
        for (String jar : path.split(File.pathSeparator)) {
            Path file = Path.of(jar);
            if (Files.isRegularFile(file) && !file.getFileName().toString().matches("(tenon|junit|.*-jdk8-).*")) {
                Path link = home.resolve("jars").resolve(file.getFileName());
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, file);
            }
        }
        Path engine = Path.of("../java/target/tenon-0.1.0-all.jar").toRealPath();
        Path front = folder.resolve("tenon-spark.jar");
        run("jar", "--create", "--file", front.toString(), "-C", CLASSES.toString(), ".");
        Path program = Files.writeString(folder.resolve("Job.java"), """
                public class Job {
                    public static void main(String[] args) throws Exception {
                        try (var session = org.apache.spark.sql.SparkSession.builder().getOrCreate()) {
                            session.range(0, 4, 1, 2).selectExpr("concat('The dog ', id) AS text").createTempView("t");
                            System.out.println("Java " + Runtime.version().feature() + " got "
                                    + session.sql("SELECT tenon.complete(text) FROM t").collectAsList());
                            System.out.println(session.sql("SELECT tenon.try_complete('a')").collectAsList());
                        }
                    }
                }
                """);
        run("javac", "--release", "17", "-cp", path, "-d", folder.toString(), program.toString());
        Path job = folder.resolve("job.jar");
        run("jar", "--create", "--file", job.toString(), "-C", folder.toString(), "Job.class");
        List<String> command =
                new ArrayList<>(List.of(old.get().resolve("bin/java").toString(), "-cp", home + "/jars/*"));
        command.addAll(Arrays.asList(JavaModuleOptions.defaultModuleOptionArray()));
        command.addAll(List.of("org.apache.spark.deploy.SparkSubmit", "--class", "Job"));
        command.addAll(List.of("--master", "local-cluster[1,1,1024]", "--jars", engine + "," + front));
        for (String setting : List.of(
                "spark.executorEnv.JAVA_HOME=" + System.getProperty("java.home"),
                "spark.ui.enabled=false",
                "spark.driver.host=127.0.0.1",
                "spark.sql.catalog.tenon=dev.tenon.spark.TenonCatalog",
                "spark.sql.catalog.tenon.model=" + Story.MODEL,
                "spark.sql.catalog.tenon.maxTokens=8")) {
            command.addAll(List.of("--conf", setting));
        }
        command.add(job.toString());
        Path output = folder.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("SPARK_HOME", home.toString());
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        Process process = builder.start();
        assertTrue(process.waitFor(280, TimeUnit.SECONDS), () -> text(output));
        assertEquals(0, process.exitValue(), () -> text(output));
        List<String> lines =
                text(output).lines().filter(line -> line.contains("[[")).toList();
        assertEquals(2, lines.size(), () -> text(output));
        assertTrue(lines.get(0).startsWith("Java 17 got [["), lines.toString());
        assertTrue(!lines.get(0).contains("null"), lines.toString());
        assertTrue(lines.get(1).endsWith(",null]]]"), lines.toString());
    }

    private static void run(String tool, String... arguments) {
        assertEquals(0, ToolProvider.findFirst(tool).orElseThrow().run(System.out, System.err, arguments), tool);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
