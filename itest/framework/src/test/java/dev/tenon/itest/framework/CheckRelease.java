package dev.tenon.itest.framework;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/// Builds what is published in two folders, signed with a key made for it, and checks that it is what Maven Central
/// demands, and the same in both. Run as a file from the root of the tree; needs `git` and `gpg`.
final class CheckRelease {
    private static final Path WORK = Path.of("target", "release").toAbsolutePath();
    private static final String NOT_BUILT = "!itest/golden,!itest/framework,!itest/examples,!itest/benchmarks";

    private final List<String> problems = new ArrayList<>();
    private final Path keys;

    private CheckRelease(Path keys) {
        this.keys = keys;
    }

    /// Builds, checks, and prints what is wrong.
    ///
    /// @param args more arguments of Maven; with `-pl` it is not demanded that all is built
    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of(args));
        boolean whole = !options.contains("-pl");
        if (whole) {
            options.addAll(List.of("-pl", NOT_BUILT));
        }
        delete(WORK);
        // gpg's agent listens in a file there, whose name may not be long.
        CheckRelease check = new CheckRelease(Files.createTempDirectory("keys"));
        try {
            check.run(
                    WORK,
                    "gpg",
                    "--batch",
                    "--passphrase",
                    "",
                    "--quick-gen-key",
                    "Check <check@example.org>",
                    "ed25519");
            Path staged = check.build("one", options);
            options.addAll(List.of("-Dgpg.skip", "-Dmaven.javadoc.skip"));
            Path again = check.build("a/second", options);
            int count = check.checkAll(staged, whole);
            check.compare(staged, again);
            check.problems.forEach(System.out::println);
            System.out.println(count + " artifacts in " + staged + ", " + check.problems.size() + " problems");
        } finally {
            check.run(WORK, "gpgconf", "--kill", "gpg-agent");
            delete(check.keys);
        }
        System.exit(check.problems.isEmpty() ? 0 : 1);
    }

    // --- building

    private Path build(String name, List<String> options) throws IOException, InterruptedException {
        Path tree = WORK.resolve(name);
        for (String file : run(Path.of(""), "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
                .split("\0")) {
            if (Files.exists(Path.of(file))) {
                Path copy = tree.resolve(file);
                Files.createDirectories(copy.getParent());
                Files.copy(Path.of(file), copy);
            }
        }
        Path staged = tree.resolve("target/staged");
        List<String> command = new ArrayList<>(List.of("./mvnw", "-q", "-B", "-ntp", "-Prelease", "-DskipTests"));
        command.addAll(List.of("-Dspotless.check.skip", "-DaltDeploymentRepository=staged::" + staged.toUri()));
        command.addAll(options);
        command.add("deploy");
        run(tree, command.toArray(String[]::new));
        return staged;
    }

    private String run(Path folder, String... command) throws IOException, InterruptedException {
        Files.createDirectories(WORK);
        Path output = Files.createTempFile(WORK, "output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toAbsolutePath().toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("GNUPGHOME", keys.toString());
        int status = builder.start().waitFor();
        String text = Files.readString(output);
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + status + ":\n" + text);
        }
        return text;
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    // --- what Maven Central demands

    private int checkAll(Path staged, boolean whole) throws IOException, InterruptedException {
        Map<String, Pom> poms = new TreeMap<>();
        for (Path file : files(staged)) {
            if (file.toString().endsWith(".pom")) {
                Pom pom = Pom.read(file);
                poms.put(pom.text("artifactId"), pom);
                String name = file.toString().replaceFirst("\\.pom$", "");
                checkFiles(name, pom);
            } else if (!file.toString().matches(".*\\.(asc|md5|sha1|xml)")) {
                String name = file.toString().replaceFirst("(-sources|-javadoc|-cyclonedx|-all)?\\.[a-z]+$", ".pom");
                demand(Files.exists(Path.of(name)), file + " belongs to no pom");
            }
        }
        for (Map.Entry<String, Pom> pom : poms.entrySet()) {
            checkPom(pom.getKey(), pom.getValue(), poms);
        }
        if (whole) {
            for (Pom managed :
                    Pom.read(Path.of("integrations/bom/pom.xml")).all("dependencyManagement/dependencies/dependency")) {
                demand(poms.containsKey(managed.text("artifactId")), managed.text("artifactId") + " is not staged");
            }
        }
        return poms.size();
    }

    private void demand(boolean good, String problem) {
        if (!good) {
            problems.add(problem);
        }
    }

    private void checkFiles(String name, Pom pom) throws IOException, InterruptedException {
        List<String> endings = pom.text("packaging").equals("pom")
                ? List.of(".pom")
                : List.of(".pom", ".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json", "-cyclonedx.xml");
        for (String ending : endings) {
            demand(Files.exists(Path.of(name + ending)), name + ending + " is missing");
        }
        Path folder = Path.of(name).getParent();
        for (Path file : files(folder)) {
            if (file.toString().matches(".*\\.(asc|md5|sha1)")) {
                continue;
            }
            checkSum(file, "MD5", ".md5");
            checkSum(file, "SHA-1", ".sha1");
            try {
                run(folder, "gpg", "--batch", "--verify", file + ".asc", file.toString());
            } catch (IOException e) {
                problems.add(e.getMessage());
            }
        }
        Path needs = Path.of(name + "-cyclonedx.json");
        if (Files.exists(needs)) {
            String purl = "pkg:maven/dev.tenon/" + pom.text("artifactId") + "@";
            demand(Files.readString(needs).contains(purl), needs + " does not name " + purl);
        }
    }

    private void checkSum(Path file, String algorithm, String ending) throws IOException {
        Path sum = Path.of(file + ending);
        if (!Files.exists(sum)) {
            problems.add(sum + " is missing");
            return;
        }
        try {
            byte[] digest = MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file));
            demand(HexFormat.of().formatHex(digest).equals(Files.readString(sum).strip()), sum + " is of another file");
        } catch (NoSuchAlgorithmException e) {
            throw new IOException(e);
        }
    }

    private void checkPom(String artifact, Pom pom, Map<String, Pom> poms) {
        for (String own : List.of("modelVersion", "name", "description")) {
            demand(!pom.text(own).isEmpty(), artifact + " has no " + own);
        }
        for (String inherited : List.of(
                "groupId",
                "version",
                "url",
                "licenses/license/name",
                "licenses/license/url",
                "developers/developer/name",
                "scm/connection",
                "scm/url")) {
            Pom from = pom;
            while (from != null && from.text(inherited).isEmpty()) {
                from = poms.get(from.text("parent/artifactId"));
            }
            demand(from != null, artifact + " has no " + inherited);
        }
        String parent = pom.text("parent/artifactId");
        demand(
                parent.isEmpty() || pom.text("parent/groupId").equals("dev.tenon") && poms.containsKey(parent),
                artifact + " has a parent outside: " + parent);
        for (Pom version : pom.below("version")) {
            demand(!version.text().contains("SNAPSHOT"), artifact + " names the version " + version.text());
        }
        for (String own : List.of("repositories", "pluginRepositories")) {
            demand(pom.all(own).isEmpty(), artifact + " names " + own);
        }
    }

    // --- the same in both folders

    private void compare(Path staged, Path again) throws IOException {
        for (Path file : files(staged)) {
            if (file.toString().matches(".*(\\.(asc|md5|sha1)|-javadoc\\.jar|maven-metadata.*)")) {
                continue;
            }
            Path other = again.resolve(staged.relativize(file));
            if (!Files.exists(other)) {
                problems.add(other + " is missing");
            } else if (Files.mismatch(file, other) >= 0) {
                problems.add(file + " differs from " + other + difference(file, other));
            }
        }
    }

    private static String difference(Path file, Path other) throws IOException {
        if (!file.toString().matches(".*\\.(jar|zip)")) {
            return " at byte " + Files.mismatch(file, other);
        }
        Map<String, String> left = entries(file);
        Map<String, String> right = entries(other);
        Set<String> names = new TreeSet<>(left.keySet());
        names.addAll(right.keySet());
        names.removeIf(name -> left.getOrDefault(name, "").equals(right.get(name)));
        return " in " + (names.isEmpty() ? "the order or attributes of entries" : names);
    }

    private static Map<String, String> entries(Path file) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                try (InputStream in = zip.getInputStream(entry)) {
                    contents.put(
                            entry.getName(), entry.getLastModifiedTime() + " " + Arrays.hashCode(in.readAllBytes()));
                }
            }
        }
        return contents;
    }
}
