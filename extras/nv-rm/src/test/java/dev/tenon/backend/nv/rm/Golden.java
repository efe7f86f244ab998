package dev.tenon.backend.nv.rm;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/// Files that tests compare with.
final class Golden {
    private Golden() {}

    static String text(String path) {
        return new String(bytes(path), StandardCharsets.UTF_8);
    }

    static byte[] bytes(String path) {
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
