package dev.tenon.platform.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The manifests of package managers: templates of `src/main/manifests`, filled with the addresses and
/// digests of what was built.
final class Manifests {
    static final Path TEMPLATES = Path.of("src/main/manifests");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([a-z][a-z0-9.-]*)}");

    private Manifests() {}

    /// Writes `manifests` in a folder. The manifests of a manager whose package is not in the folder are
    /// left out, and told.
    ///
    /// @param target the folder with the packages
    /// @param portable the distribution without a runtime
    /// @param address of the project; releases are at `ADDRESS/releases/VERSION/FILE`
    static void write(Path target, Path portable, String version, String address) throws IOException {
        Map<String, String> values = new TreeMap<>(Map.of("home", address, "version", version));
        known(values, "portable", portable);
        for (String name : new String[] {"linux-amd64.tar.gz", "windows-amd64.msi"}) {
            Path file = target.resolve("tenon-" + version + "-" + name);
            if (Files.exists(file)) {
                known(values, name.substring(0, name.indexOf('.')), file);
            }
        }
        try (Stream<Path> managers = Files.list(TEMPLATES)) {
            for (Path manager : managers.sorted().toList()) {
                Path to = target.resolve("manifests").resolve(manager.getFileName());
                Map<Path, String> filled = new TreeMap<>();
                for (Path template : Trees.below(manager)) {
                    filled.put(to.resolve(manager.relativize(template)), filled(Files.readString(template), values));
                }
                Trees.delete(to);
                if (filled.values().stream()
                        .anyMatch(text -> VARIABLE.matcher(text).find())) {
                    System.out.println(to + " is left out: its package is not in " + target);
                    continue;
                }
                Files.createDirectories(to);
                for (Map.Entry<Path, String> each : filled.entrySet()) {
                    Files.writeString(each.getKey(), each.getValue());
                }
            }
        }
    }

    private static void known(Map<String, String> values, String name, Path file) throws IOException {
        values.put(name + ".url", values.get("home") + "/releases/" + values.get("version") + "/" + file.getFileName());
        values.put(name + ".sha256", PackageBuilder.digest("SHA-256", file));
    }

    private static String filled(String template, Map<String, String> values) {
        return VARIABLE.matcher(template)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(1), found.group())));
    }
}
