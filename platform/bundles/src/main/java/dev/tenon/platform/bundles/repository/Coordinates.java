package dev.tenon.platform.bundles.repository;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.regex.Pattern;

/// What a bundle is called that is to be fetched.
///
/// @param group Maven's group, or empty for a bundle of an index
/// @param name Maven's artifact, or the symbolic name
/// @param version version; empty for the highest of an index
public record Coordinates(String group, String name, String version) {
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]*");

    /// Reads `group:artifact:version`, `name:version` or `name`.
    ///
    /// @param text what was typed
    /// @return the coordinates
    /// @throws TenonException (`CLI-001`) if it is none of those
    public static Coordinates parse(String text) {
        String[] parts = text.split(":", -1);
        boolean good = parts.length <= 3;
        for (String part : parts) {
            // No part may lead out of its folder.
            good &= WORD.matcher(part).matches() && !part.contains("..");
        }
        if (!good) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "'" + text + "' is neither a file nor a bundle's coordinates; expected a path,"
                            + " group:artifact:version, or for an index name or name:version");
        }
        return parts.length == 3
                ? new Coordinates(parts[0], parts[1], parts[2])
                : new Coordinates("", parts[0], parts.length == 2 ? parts[1] : "");
    }

    /// {@return where a Maven repository keeps the jar}
    String mavenPath() {
        return group.replace('.', '/') + "/" + name + "/" + version + "/" + name + "-" + version + ".jar";
    }

    @Override
    public String toString() {
        return (group.isEmpty() ? "" : group + ":") + name + (version.isEmpty() ? "" : ":" + version);
    }
}
