package dev.tenon.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What the api offers is what the committed file says. After a declared change, this renews the file:
///
/// ```
/// ./mvnw -pl api test -Dtest=SignatureTests -Dtenon.api.renew=true
/// ```
class SignatureTests {
    private static final Path FILE = Path.of("signatures.txt");

    @Test
    void nothingHasChangedThatIsNotDeclared() throws IOException, URISyntaxException {
        Map<String, List<String>> found = found();
        assertTrue(found.size() > 8, found.keySet() + " are all the packages");
        Map<String, List<String>> committed = read(Files.readAllLines(FILE));
        if (Boolean.getBoolean("tenon.api.renew")) {
            assertEquals(List.of(), undeclared(committed, found), "raise the versions of these packages first");
            write(found);
            return;
        }
        assertEquals(
                List.of(),
                changes(committed, found),
                "changes that are not declared; CONTRIBUTING.md says how to declare them");
    }

    /// Packages of version 0.x may lose what they have: bundles read on the page what is different.
    @Test
    void thePageOfChangesHasEachYoungPackage() throws IOException, URISyntaxException {
        Path page = Path.of("../docs/api-changes.md");
        assumeTrue(Files.exists(page), "the tests do not run in the repository");
        String text = Files.readString(page);
        List<String> missing = found().keySet().stream()
                .filter(SignatureTests::isYoung)
                .map(key -> "| `" + name(key).substring("dev.tenon.".length()) + "` | "
                        + key.substring(key.indexOf(' ') + 1, key.lastIndexOf('.')) + " |")
                .filter(row -> !text.contains(row))
                .toList();
        assertEquals(List.of(), missing, "rows that docs/api-changes.md does not have");
    }

    @Test
    void removingIsAMajorChangeAndAddingAMinorOne() {
        Map<String, List<String>> before = read(List.of("package a 1.2.0", "  one", "  two"));
        assertEquals(
                List.of("a 1.2.0: - one, declared as 1.3.0"),
                undeclared(before, read(List.of("package a 1.3.0", "  two"))));
        assertEquals(
                List.of("a 1.2.0: + three, declared as 1.2.0"),
                undeclared(before, read(List.of("package a 1.2.0", "  one", "  two", "  three"))));
        assertEquals(List.of(), undeclared(before, read(List.of("package a 1.3.0", "  one", "  two", "  three"))));
        assertEquals(List.of(), undeclared(before, read(List.of("package a 2.0.0", "  two"))));
        // What was to be implemented may be implemented already: nobody's class breaks.
        assertEquals(
                List.of(),
                undeclared(
                        read(List.of("package a 1.2.0", "  public abstract int A.size()")),
                        read(List.of("package a 1.3.0", "  public default int A.size()"))));
        Map<String, List<String>> young = read(List.of("package k 0.9.0", "  one"));
        assertEquals(
                List.of("k 0.9.0: - one, declared as 0.9.0", "k 0.9.0: + two, declared as 0.9.0"),
                undeclared(young, read(List.of("package k 0.9.0", "  two"))));
        assertEquals(List.of(), undeclared(young, read(List.of("package k 0.10.0", "  two"))));
        assertEquals(
                List.of("k 0.9.0: - one", "k 0.9.0: + two"), changes(young, read(List.of("package k 0.9.0", "  two"))));
    }

    /// The signatures by package and version.
    private static Map<String, List<String>> found() throws IOException, URISyntaxException {
        Path classes = Path.of(SignatureTests.class
                .getResource("/dev/tenon/api/device/Plan.class")
                .toURI());
        Path root = classes.getParent().getParent();
        Map<String, List<String>> packages = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(root)) {
            List<Class<?>> types = new ArrayList<>();
            for (Path file : walk.filter(f -> f.toString().endsWith(".class")).toList()) {
                String name = "dev.tenon.api."
                        + root.relativize(file)
                                .toString()
                                .replace(".class", "")
                                .replace('/', '.')
                                .replace('\\', '.');
                types.add(type(name));
            }
            types.sort((a, b) -> a.getName().compareTo(b.getName()));
            for (Class<?> type : types) {
                if (Signatures.isOffered(type)) {
                    packages.computeIfAbsent(
                                    type.getPackageName() + " " + Signatures.version(type), p -> new ArrayList<>())
                            .addAll(Signatures.of(type));
                }
            }
        }
        return packages;
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, SignatureTests.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static Map<String, List<String>> read(List<String> lines) {
        Map<String, List<String>> packages = new TreeMap<>();
        List<String> current = List.of();
        for (String line : lines) {
            if (line.startsWith("package ")) {
                current = new ArrayList<>();
                packages.put(line.substring(8), current);
            } else {
                current.add(line.strip());
            }
        }
        return packages;
    }

    private static void write(Map<String, List<String>> packages) throws IOException {
        List<String> lines = new ArrayList<>();
        packages.forEach((name, signatures) -> {
            lines.add("package " + name);
            signatures.forEach(signature -> lines.add("  " + signature));
        });
        Files.write(FILE, lines);
    }

    /// What differs, one line each with the committed package and version.
    private static List<String> changes(Map<String, List<String>> before, Map<String, List<String>> after) {
        List<String> changes = new ArrayList<>();
        before.forEach((key, old) -> {
            List<String> now = find(after, key);
            old.stream().filter(s -> !now.contains(s)).forEach(s -> changes.add(key + ": - " + s));
            now.stream().filter(s -> !old.contains(s)).forEach(s -> changes.add(key + ": + " + s));
            if (!after.containsKey(key)) {
                changes.add(key + ": another version, or no such package");
            }
        });
        after.keySet().stream()
                .filter(key -> find(before, key).isEmpty())
                .forEach(key -> changes.add(key + ": a new package"));
        return changes;
    }

    /// The changes whose package's new version does not say so: its minor number has to be higher, or, where a stable
    /// package loses something, its major one.
    private static List<String> undeclared(Map<String, List<String>> before, Map<String, List<String>> after) {
        List<String> undeclared = new ArrayList<>();
        before.forEach((key, old) -> {
            String was = key.substring(key.indexOf(' ') + 1);
            String is = after.keySet().stream()
                    .filter(k -> name(k).equals(name(key)))
                    .map(k -> k.substring(k.indexOf(' ') + 1))
                    .findFirst()
                    .orElse("none");
            List<String> now = find(after, key);
            boolean major = number(is, 0) > number(was, 0);
            boolean minor = major || number(is, 0) == number(was, 0) && number(is, 1) > number(was, 1);
            boolean mayLose = number(was, 0) > 0 ? major : minor;
            old.stream()
                    .filter(s -> !mayLose && !now.contains(s) && !now.contains(s.replace(" abstract ", " default ")))
                    .forEach(s -> undeclared.add(key + ": - " + s + ", declared as " + is));
            now.stream()
                    .filter(s -> !minor && !old.contains(s))
                    .forEach(s -> undeclared.add(key + ": + " + s + ", declared as " + is));
        });
        return undeclared;
    }

    /// Whether a package, with its version, is of version 0.
    private static boolean isYoung(String key) {
        return number(key.substring(key.indexOf(' ') + 1), 0) == 0;
    }

    private static int number(String version, int part) {
        return version.equals("none") ? -1 : Integer.parseInt(version.split("\\.")[part]);
    }

    private static String name(String key) {
        return key.substring(0, key.indexOf(' '));
    }

    private static List<String> find(Map<String, List<String>> packages, String key) {
        return packages.entrySet().stream()
                .filter(e -> name(e.getKey()).equals(name(key)))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(List.of());
    }
}
