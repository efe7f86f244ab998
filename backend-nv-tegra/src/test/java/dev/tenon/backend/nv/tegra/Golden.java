package dev.tenon.backend.nv.tegra;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Files that tests compare with.
public final class Golden {
    private Golden() {}

    /// {@return a file of `golden/nv` as text}
    public static List<String> lines(String name) {
        return new String(bytes("/golden/nv/" + name), StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    /// {@return a resource}
    public static byte[] bytes(String path) {
        try (InputStream in = Golden.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new AssertionError("no resource " + path);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
