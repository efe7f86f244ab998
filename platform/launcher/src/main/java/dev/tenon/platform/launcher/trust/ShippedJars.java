package dev.tenon.platform.launcher.trust;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;

/// The digests of the jars that make up a distribution and the archive of extras. The build writes them into `lib/`,
/// beside the launcher that relies on them: whoever can write there decides what runs anyway.
public final class ShippedJars {
    /// The list's name in `lib/`.
    static final String LIST = "shipped.sha256";

    private ShippedJars() {}

    /// Prints a line for each jar, as `sha256sum` does, sorted.
    ///
    /// @param args a class path; what is no jar is left out
    public static void main(String[] args) throws IOException {
        TreeSet<String> lines = new TreeSet<>();
        for (String each : String.join(File.pathSeparator, args).split(File.pathSeparator)) {
            Path jar = Path.of(each);
            if (each.endsWith(".jar") && Files.isRegularFile(jar)) {
                lines.add(SignedJar.digest(jar) + "  " + jar.getFileName());
            }
        }
        lines.forEach(System.out::println);
    }
}
