package dev.tenon.platform.server.models;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The files of a model.
public final class ModelParts {
    private static final Pattern FIRST = Pattern.compile("(.*)-00001-of-(\\d{5})\\.gguf");

    private ModelParts() {}

    /// {@return all parts of a split model, or the one file of another one}
    ///
    /// @param file the file that is loaded
    public static List<Path> parts(Path file) {
        Matcher first = FIRST.matcher(file.getFileName().toString());
        if (!first.matches()) {
            return List.of(file);
        }
        List<Path> parts = new ArrayList<>();
        for (int part = 1; part <= Integer.parseInt(first.group(2)); part++) {
            parts.add(file.resolveSibling(
                    String.format(Locale.ROOT, "%s-%05d-of-%s.gguf", first.group(1), part, first.group(2))));
        }
        return parts;
    }

    /// {@return a text that is another one after a part was changed or replaced}
    ///
    /// @param file the file that is loaded
    static String state(Path file) {
        StringBuilder state = new StringBuilder();
        for (Path part : parts(file)) {
            try {
                BasicFileAttributes now = Files.readAttributes(part, BasicFileAttributes.class);
                state.append(now.fileKey())
                        .append(' ')
                        .append(now.size())
                        .append(' ')
                        .append(now.lastModifiedTime())
                        .append('\n');
            } catch (IOException e) {
                state.append(e).append('\n');
            }
        }
        return state.toString();
    }

    /// {@return the size of all parts}
    ///
    /// @param file the file that is loaded
    /// @throws IOException if one is missing
    static long bytes(Path file) throws IOException {
        long bytes = 0;
        for (Path part : parts(file)) {
            bytes += Files.size(part);
        }
        return bytes;
    }
}
