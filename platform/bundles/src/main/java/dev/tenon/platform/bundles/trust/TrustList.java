package dev.tenon.platform.bundles.trust;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.bundles.manager.BundleJar;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The file with the digests of jars that may run, a line each: digest, name, version.
public final class TrustList {
    private TrustList() {}

    /// Adds jars that are not in it.
    ///
    /// @param trust knows the file
    /// @param jars the jars
    /// @return those that were added
    /// @throws TenonException (`BUNDLE-001`, `IO-001`) if one is no whole bundle, or it cannot be written;
    ///     then none was added
    public static List<BundleJar> add(BundleTrust trust, List<Path> jars) {
        List<BundleJar> added = new ArrayList<>();
        StringBuilder lines = new StringBuilder();
        Path list = null;
        try {
            Set<String> known = new HashSet<>();
            for (Path jar : jars) {
                BundleJar read = BundleJar.read(jar);
                if (list == null) {
                    list = file(trust, jar);
                    if (Files.exists(list)) {
                        lines.append(Files.readString(list));
                        lines.toString().lines().forEach(line -> known.add(line.split("\\s", 2)[0]));
                        if (!lines.isEmpty() && !lines.toString().endsWith("\n")) {
                            lines.append(System.lineSeparator());
                        }
                    }
                }
                if (known.add(read.sha256())) {
                    added.add(read);
                    lines.append(read.sha256())
                            .append("  ")
                            .append(read.title())
                            .append(System.lineSeparator());
                }
            }
            if (!added.isEmpty()) {
                Files.createDirectories(list.toAbsolutePath().getParent());
                OutputFile.write(list, true, lines);
            }
            return added;
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, "The list of trusted jars, " + list + ", cannot be written: " + e.getMessage(), e);
        }
    }

    private static Path file(BundleTrust trust, Path jar) {
        String list = trust.look(jar).list();
        if (list.isEmpty()) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM, "There is no list of trusted jars here. Start Tenon with bin/tenon.");
        }
        return Path.of(list);
    }
}
