package dev.tenon.platform.launcher.trust;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/// The digests of the jars that make up a distribution and the archive of extras. The build writes them into `lib/`,
/// beside the launcher that relies on them: whoever can write there decides what runs anyway.
public final class ShippedJars {
    /// The list's name in `lib/`.
    static final String LIST = "shipped.sha256";

    private ShippedJars() {}

    /// Prints a line for each jar, as `sha256sum` does, sorted: bundles of the distribution by
    /// their path in it, others by their name.
    ///
    /// @param args a folder with the distribution's `bundles`, and a class path, of which what is
    ///     no jar is left out
    /// @throws IOException if a jar cannot be read
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        Map<Path, Path> places = new HashMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            files.forEach(file -> places.put(file.getFileName(), folder.relativize(file)));
        }
        TreeSet<String> lines = new TreeSet<>();
        for (String each : args[1].split(File.pathSeparator)) {
            Path jar = Path.of(each);
            if (each.endsWith(".jar") && Files.isRegularFile(jar)) {
                Path name = jar.getFileName();
                lines.add(SignedJar.digest(jar) + "  "
                        + places.getOrDefault(name, name).toString().replace(File.separatorChar, '/'));
            }
        }
        lines.forEach(System.out::println);
    }
}
