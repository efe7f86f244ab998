package dev.tenon.platform.bundles.dev;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/// The folder of a project that builds a bundle.
///
/// @param folder the folder
/// @param build the command that builds it
/// @param environment variables that the command needs besides those that there are
public record BundleProject(Path folder, List<String> build, Map<String, String> environment) {
    private static final List<String> ARGUMENTS = List.of("-B", "-ntp", "-Dstyle.color=never", "verify");
    /// Where builds leave jars: Maven's folder, Gradle's.
    private static final List<String> OUTPUTS = List.of("target", "build/libs");

    private static final boolean WINDOWS = File.separatorChar == '\\';

    /// Finds out how a folder is built.
    ///
    /// @param folder the folder
    /// @param build a command for the shell, or null: `./mvnw` or `mvn`
    /// @param java the home of a Java; Maven runs on it if it is a JDK
    /// @param variables the environment
    /// @return the project
    /// @throws TenonException (`CLI-001`) if it is no project or there is no Maven, (`ENV-001`) if there is no JDK
    public static BundleProject in(Path folder, String build, Path java, Map<String, String> variables) {
        boolean compiles = isJdk(java);
        Map<String, String> environment = compiles ? Map.of("JAVA_HOME", java.toString()) : Map.of();
        if (build != null) {
            List<String> command = WINDOWS ? List.of("cmd", "/c", build) : List.of("sh", "-c", build);
            return new BundleProject(folder, command, environment);
        }
        if (!Files.exists(folder.resolve("pom.xml"))) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "There is no pom.xml in " + folder + ": go to a bundle's project, begin one with 'tenon new format"
                            + " NAME', or give the command that builds it with --build");
        }
        Path wrapper = folder.resolve("mvnw");
        if (!WINDOWS && Files.isExecutable(wrapper)) {
            return new BundleProject(folder, maven(wrapper.toString()), environment); // finds a JDK by itself
        }
        Path maven = onPath(WINDOWS ? "mvn.cmd" : "mvn", variables.getOrDefault("PATH", ""));
        if (maven == null) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "There is neither mvnw in " + folder + " nor mvn on the PATH: install Maven 3.8.6 or later, or give"
                            + " the command that builds the bundle with --build");
        }
        if (!compiles && !isJdk(Path.of(variables.getOrDefault("JAVA_HOME", "")))) {
            throw new TenonException(
                    ErrorCode.ENV_JDK,
                    java + " has no compiler, so Maven cannot build the bundle with it: set JAVA_HOME to a JDK 25 or"
                            + " newer");
        }
        return new BundleProject(folder, maven(maven.toString()), environment);
    }

    private static List<String> maven(String program) {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(ARGUMENTS);
        return command;
    }

    private static boolean isJdk(Path java) {
        return Files.isExecutable(java.resolve("bin").resolve(WINDOWS ? "javac.exe" : "javac"));
    }

    private static Path onPath(String program, String path) {
        return Stream.of(path.split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /// {@return a folder for logs, beside what the build makes}
    public Path logs() {
        return folder.resolve(Files.exists(folder.resolve("pom.xml")) ? "target" : "build")
                .resolve("tenon-dev");
    }

    /// {@return the jar that the build made last}
    ///
    /// @throws TenonException (`BUNDLE-001`) if there is none
    public Path jar() {
        try {
            List<Path> jars = new ArrayList<>();
            for (String output : OUTPUTS) {
                if (Files.isDirectory(folder.resolve(output))) {
                    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder.resolve(output), "*.jar")) {
                        files.forEach(jars::add);
                    }
                }
            }
            jars.removeIf(jar -> jar.toString().matches(".*-(sources|javadoc|tests)\\.jar"));
            List<FileTime> times = new ArrayList<>();
            for (Path jar : jars) {
                times.add(Files.getLastModifiedTime(jar));
            }
            return jars.stream()
                    .max(Comparator.comparing(jar -> times.get(jars.indexOf(jar))))
                    .orElseThrow(() -> new TenonException(
                            ErrorCode.BUNDLE_FILE,
                            "The build left no jar in " + String.join(" or ", OUTPUTS) + " of " + folder));
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "The jars of " + folder + " cannot be listed: " + e, e);
        }
    }

    /// {@return a number that changes with the sources: the files in `src/` and those beside it}
    public long stamp() {
        try (Stream<Path> beside = Files.list(folder);
                Stream<Path> sources =
                        Files.exists(folder.resolve("src")) ? Files.walk(folder.resolve("src")) : Stream.empty()) {
            // What tools write beside the sources, such as crash reports, is not among these.
            Stream<Path> builds =
                    beside.filter(file -> file.getFileName().toString().matches("pom\\.xml|.*\\.(gradle|kts|bnd)"));
            return Stream.concat(builds, sources)
                    .mapToLong(BundleProject::stamp)
                    .sum();
        } catch (IOException | java.io.UncheckedIOException e) {
            throw new TenonException(ErrorCode.IO, "The sources in " + folder + " cannot be listed: " + e, e);
        }
    }

    private static long stamp(Path file) {
        try {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            // The date of a folder changes with files that editors make and delete again.
            return found.isDirectory() ? 0 : Objects.hash(file, found.lastModifiedTime(), found.size());
        } catch (NoSuchFileException e) {
            return 0; // deleted while the folder was listed
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
