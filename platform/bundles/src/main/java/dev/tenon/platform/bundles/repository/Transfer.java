package dev.tenon.platform.bundles.repository;

import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/// Reads what lies at `file:`, `https:` and, on this machine, `http:` addresses. For one thread.
final class Transfer implements AutoCloseable {
    private static final int LONGEST_TEXT = 16 << 20;

    private final boolean offline;
    private HttpGet http;

    /// Makes a reader that has no connection yet.
    ///
    /// @param offline whether only files are read
    Transfer(boolean offline) {
        this.offline = offline;
    }

    /// Opens an address.
    ///
    /// @return its content, to be closed by the caller, or empty if there is nothing
    /// @throws IOException if it cannot be reached or read, or is not asked at all
    private Optional<InputStream> open(URI from) throws IOException {
        if ("file".equals(from.getScheme())) {
            try {
                return Optional.of(Files.newInputStream(Path.of(from)));
            } catch (NoSuchFileException e) {
                return Optional.empty();
            }
        }
        if (offline) {
            throw new IOException("is not used, because of --offline");
        }
        if (!"https".equals(from.getScheme()) && !("http".equals(from.getScheme()) && HttpGet.isThisMachine(from))) {
            throw new IOException("is not used: expected an https address, or a file");
        }
        if (http == null) {
            http = new HttpGet(Map.of(), null, HttpGet.PATIENCE);
        }
        HttpGet.Answer answer = http.send(from, Map.of());
        if (answer.status() == 200) {
            return Optional.of(answer.body());
        }
        answer.close();
        if (answer.status() == 404 || answer.status() == 410) {
            return Optional.empty();
        }
        throw new IOException("answered with HTTP " + answer.status() + "; expected 200");
    }

    /// Reads a text.
    ///
    /// @param from where it lies
    /// @return the text, or empty if there is none
    Optional<String> text(URI from) throws IOException {
        Optional<InputStream> found = open(from);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (InputStream in = found.get()) {
            byte[] bytes = in.readNBytes(LONGEST_TEXT + 1);
            if (bytes.length > LONGEST_TEXT) {
                throw new IOException(
                        from + " is longer than " + LONGEST_TEXT + " bytes; expected an index or a checksum");
            }
            return Optional.of(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    /// Reads a file and computes its checksum on the way.
    ///
    /// @param from where it lies
    /// @param target where to put it
    /// @param algorithm such as `SHA-256`
    /// @return the checksum in hexadecimal digits, or empty if there is no such file
    Optional<String> copy(URI from, Path target, String algorithm) throws IOException {
        Optional<InputStream> found = open(from);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (DigestInputStream in = new DigestInputStream(found.get(), MessageDigest.getInstance(algorithm));
                OutputStream out = Files.newOutputStream(target)) {
            in.transferTo(out);
            return Optional.of(HexFormat.of().formatHex(in.getMessageDigest().digest()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }

    @Override
    public void close() {
        if (http != null) {
            http.close();
        }
    }
}
