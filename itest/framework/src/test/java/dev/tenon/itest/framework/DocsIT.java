package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Links and paths on pages lead somewhere.
class DocsIT {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern CODE = Pattern.compile("`([A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*)`");

    @Test
    void linksLeadToFilesAndHeadings() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Path page : pages()) {
            for (MatchResult link : find(LINK, Files.readString(page))) {
                if (link.group(1).contains("://")) {
                    continue;
                }
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                if (!Files.exists(target) || link.group(2) != null && !hasAnchor(target, link.group(2))) {
                    wrong.add(ROOT.relativize(page) + ": " + link.group());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static boolean hasAnchor(Path page, String anchor) throws IOException {
        return Files.readAllLines(page).stream()
                .anyMatch(line -> line.contains("id=\"" + anchor + "\"")
                        || line.startsWith("#")
                                && anchor.equals(line.replaceFirst("^#+ ", "")
                                        .toLowerCase(Locale.ROOT)
                                        .replaceAll("[^a-z0-9 _-]", "")
                                        .replace(' ', '-')));
    }

    /// A path in code style that begins with a folder of the tree's root is a file or folder of the
    /// tree. `target/` begins a path in some module's build: the root has one only once it was built.
    /// What lies outside of the tree (`../`) need not be there.
    @Test
    void pathsAreThere() throws IOException {
        List<String> wrong = new ArrayList<>();
        int seen = 0;
        for (Path page : pages()) {
            for (MatchResult code : find(CODE, Files.readString(page))) {
                String path = code.group(1);
                if (!path.startsWith("target/")
                        && !path.startsWith("../")
                        && Files.isDirectory(ROOT.resolve(path.substring(0, path.indexOf('/'))))) {
                    seen++;
                    if (!Files.exists(ROOT.resolve(path))) {
                        wrong.add(ROOT.relativize(page) + ": " + path);
                    }
                }
            }
        }
        assertTrue(seen > 20, "only " + seen + " paths found");
        assertEquals(List.of(), wrong);
    }

    @Test
    void theArchitectureNamesEachModuleAndEachPackageOfTheApi() throws IOException {
        String text = Files.readString(ROOT.resolve("docs/ARCHITECTURE.md"));
        List<String> wanted = new ArrayList<>();
        for (MatchResult module : find(
                Pattern.compile("<module>(?:[^<]*/)?([^</]+)</module>"), Files.readString(ROOT.resolve("pom.xml")))) {
            if (!module.group().contains("archetypes/")) {
                wanted.add(" " + module.group(1) + "/ ");
            }
        }
        Path api = ROOT.resolve("api/src/main/java/dev/tenon");
        try (Stream<Path> files = Files.walk(api)) {
            files.filter(file -> file.endsWith("package-info.java"))
                    .map(file ->
                            "`" + api.relativize(file.getParent()).toString().replace('/', '.') + "`")
                    .forEach(wanted::add);
        }
        assertTrue(wanted.size() > 30, "found only " + wanted);
        String spaced = text.replace("\n", "\n ");
        assertEquals(
                List.of(),
                wanted.stream().filter(name -> !spaced.contains(name)).toList());
    }

    /// A module of the platform that has several packages has a row with their names.
    @Test
    void theArchitectureNamesEachPackageOfThePlatform() throws IOException {
        List<String> lines = Files.readAllLines(ROOT.resolve("docs/ARCHITECTURE.md"));
        List<String> missing = new ArrayList<>();
        int seen = 0;
        for (String module : List.of("core", "grammar", "cli", "bundles", "bench", "server", "contracts")) {
            String row = lines.stream()
                    .filter(line -> line.startsWith("| `" + module + "` |"))
                    .findFirst()
                    .orElse("");
            Path top = ROOT.resolve("platform/" + module + "/src/main/java/dev/tenon/platform/" + module);
            try (Stream<Path> files = Files.list(top)) {
                for (Path folder : files.filter(Files::isDirectory).toList()) {
                    seen++;
                    if (!row.contains("`" + folder.getFileName() + "`")) {
                        missing.add(module + "." + folder.getFileName());
                    }
                }
            }
        }
        assertTrue(seen > 50, "found only " + seen + " packages");
        assertEquals(List.of(), missing);
    }

    @Test
    void theWalksThroughTheCodeLeadOverFilesThatCanBeRead() throws IOException {
        Path page = ROOT.resolve("docs/ARCHITECTURE.md");
        String section = Files.readString(page)
                .replaceFirst("(?s).*\n## Three walks\n", "")
                .replaceFirst("(?s)\n## .*", "");
        assertEquals(3, find(Pattern.compile("(?m)^1\\. "), section).size(), section);
        List<String> wrong = new ArrayList<>();
        for (MatchResult link : find(Pattern.compile("]\\(([^)]+\\.java)\\)"), section)) {
            int lines = Files.readAllLines(page.resolveSibling(link.group(1))).size();
            if (lines > 300) {
                wrong.add(link.group(1) + " has " + lines + " lines");
            }
        }
        assertEquals(List.of(), wrong, "a file of a walk has at most 300");
    }

    @Test
    void pagesThatHaveALimitKeepIt() throws IOException {
        List<String> wrong = new ArrayList<>();
        Set<String> numbers = new HashSet<>();
        for (Path page : pages()) {
            String path = ROOT.relativize(page).toString();
            String text = Files.readString(page);
            int words = text.split("\\s+").length;
            boolean decision = path.startsWith("docs/decisions/") && !path.endsWith("README.md");
            int limit = decision
                    ? 250
                    : switch (path) {
                        case "README.md" -> 700;
                        case "docs/performance.md" -> 2000;
                        default -> Integer.MAX_VALUE;
                    };
            if (words > limit) {
                wrong.add(path + " has " + words + " words, at most " + limit + " are meant");
            }
            if (decision && !numbers.add(page.getFileName().toString().substring(0, 4))) {
                wrong.add(path + " has the number of another decision");
            }
            if (decision
                    && !(text.contains("**Context.**") && text.contains("**Cost.**") && text.contains("**Undo.**"))) {
                wrong.add(path + " lacks context, cost, or how to undo it");
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static List<MatchResult> find(Pattern pattern, String text) {
        return pattern.matcher(text).results().toList();
    }

    /// {@return the pages of people: those of the root, `docs` and `examples`, and README files elsewhere}
    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.find(
                ROOT, 12, (file, attributes) -> attributes.isRegularFile() && isPage(ROOT.relativize(file)))) {
            List<Path> pages = files.sorted().toList();
            assertTrue(pages.size() > 40, "pages found: " + pages);
            return pages;
        }
    }

    private static boolean isPage(Path file) {
        String path = file.toString();
        return path.endsWith(".md")
                && !path.matches("(.*/)?(target|resources|\\.git)/.*")
                && (path.matches("[^/]+|(docs|examples)/.*") || path.endsWith("README.md"));
    }
}
