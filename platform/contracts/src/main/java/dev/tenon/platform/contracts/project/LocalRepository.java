package dev.tenon.platform.contracts.project;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/// Maven's local repository, into which the distribution installs what projects are compiled against: the api, the
/// contracts and the command line, with their sources and the poms of the build that made them.
///
/// @param folder the repository
public record LocalRepository(Path folder) {
    /// What is installed.
    public static final List<String> ARTIFACTS = List.of("tenon-api", "tenon-itest-testkit", "tenon-platform-cli");

    private static final String API = ARTIFACTS.get(0);
    private static final String CONTRACTS = ARTIFACTS.get(1);
    private static final String CLI = ARTIFACTS.get(2);
    private static final String POMS = "/META-INF/poms/";
    private static final String TESTKIT = "/itest-lib/testkit.jar";
    private static final Pattern OPTION = Pattern.compile("-Dmaven\\.repo\\.local=(\\S+)");
    private static final Pattern SETTING = Pattern.compile("<localRepository>\\s*(.*?)\\s*</localRepository>");
    private static final Pattern VERSION = Pattern.compile("<version>(.*?)</version>");

    /// {@return the repository that Maven uses: named by an option in `MAVEN_ARGS` or `MAVEN_OPTS`, by
    /// `~/.m2/settings.xml`, or `~/.m2/repository`}
    ///
    /// @param environment the environment
    /// @param home the user's folder
    /// @throws TenonException (`IO-001`) if the settings cannot be read
    public static LocalRepository find(Map<String, String> environment, Path home) {
        Path maven = home.resolve(".m2");
        Path settings = maven.resolve("settings.xml");
        Optional<String> named = Stream.of("MAVEN_ARGS", "MAVEN_OPTS")
                .flatMap(name -> first(OPTION, environment.getOrDefault(name, "")).stream())
                .findFirst();
        try {
            if (named.isEmpty() && Files.exists(settings)) {
                named = first(SETTING, Files.readString(settings))
                        .map(value -> value.replace("${user.home}", home.toString()));
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, settings + " cannot be read: " + e.getMessage(), e);
        }
        return new LocalRepository(named.map(Path::of).orElse(maven.resolve("repository")));
    }

    private static Optional<String> first(Pattern pattern, String text) {
        return pattern.matcher(text).results().findFirst().map(found -> found.group(1));
    }

    /// {@return the version of the api that this distribution has}
    public static String version() {
        Matcher matcher = VERSION.matcher(new String(resource(POMS + "pom.xml"), StandardCharsets.UTF_8));
        if (!matcher.find()) {
            throw new IllegalStateException("the pom of the build names no version");
        }
        return matcher.group(1);
    }

    /// Installs them, as `mvn install` does in a source tree.
    ///
    /// @param home the distribution, in whose `bundles/` the api and the command line lie
    /// @param sources the source files of an artifact, by their paths
    /// @return whether something had to be written
    /// @throws TenonException (`IO-001`) if it cannot be
    public boolean install(Path home, Function<String, Map<String, byte[]>> sources) {
        String version = version();
        Path bundles = home.resolve("bundles");
        try {
            boolean written = false;
            for (String artifact : ARTIFACTS) {
                written |= put(artifact, version, "-sources.jar", zipped(sources.apply(artifact)));
            }
            return written
                    | put("tenon-parent", version, ".pom", resource(POMS + "pom.xml"))
                    | put(API, version, ".pom", resource(POMS + "api/pom.xml"))
                    | put(API, version, ".jar", bundle(bundles, API, version))
                    | put(CLI, version, ".pom", resource(POMS + "platform/cli/pom.xml"))
                    | put(CLI, version, ".jar", bundle(bundles, CLI, version))
                    | put(CONTRACTS, version, ".pom", resource(POMS + "itest/testkit/pom.xml"))
                    | put(CONTRACTS, version, ".jar", resource(TESTKIT));
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO,
                    String.join(", ", ARTIFACTS) + " " + version + " cannot be installed into Maven's local repository "
                            + folder + ": " + e,
                    e);
        }
    }

    private static byte[] bundle(Path bundles, String artifact, String version) throws IOException {
        return Files.readAllBytes(bundles.resolve(artifact + "-" + version + ".jar"));
    }

    /// The same bytes for the same files.
    private static byte[] zipped(Map<String, byte[]> files) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> file : new TreeMap<>(files).entrySet()) {
                ZipEntry entry = new ZipEntry(file.getKey());
                entry.setTimeLocal(LocalDateTime.of(2000, 1, 1, 0, 0));
                jar.putNextEntry(entry);
                jar.write(file.getValue());
            }
        }
        return bytes.toByteArray();
    }

    /// Writes a file unless it is there already, in one step: another build may be reading.
    private boolean put(String artifact, String version, String ending, byte[] content) throws IOException {
        Path file = folder.resolve(Path.of("dev", "tenon", artifact, version, artifact + "-" + version + ending));
        if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), content)) {
            return false;
        }
        Files.createDirectories(file.getParent());
        Path draft = Files.createTempFile(file.getParent(), artifact, ".part");
        Files.write(draft, content);
        Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
        return true;
    }

    private static byte[] resource(String name) {
        try (InputStream in = LocalRepository.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new TenonException(
                        ErrorCode.ENV_PLATFORM,
                        "This bundle has no " + name + ". Build or unpack the distribution again");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, name + " of this bundle cannot be read: " + e.getMessage(), e);
        }
    }
}
