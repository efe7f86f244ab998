package dev.tenon.platform.bundles.repository;

import dev.tenon.platform.cli.http.HttpGet;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpResponse;
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
        if (!"https".equals(from.getScheme()) && !("http".equals(from.getScheme()) && isThisMachine(from))) {
            throw new IOException("is not used: expected an https address, or a file");
        }
        if (http == null) {
            http = new HttpGet(null, null);
        }
        HttpResponse<InputStream> response = http.send(from, Map.of());
        if (response.statusCode() == 200) {
            long length = response.headers().firstValueAsLong("Content-Length").orElse(-1);
            return Optional.of(new Whole(response.body(), length));
        }
        response.body().close();
        if (response.statusCode() == 404 || response.statusCode() == 410) {
            return Optional.empty();
        }
        throw new IOException("answered with HTTP " + response.statusCode() + "; expected 200");
    }

    private static boolean isThisMachine(URI uri) throws UnknownHostException {
        return uri.getHost() != null && InetAddress.getByName(uri.getHost()).isLoopbackAddress();
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

    /// An answer that must not end before its length.
    private static final class Whole extends FilterInputStream {
        private final long length;
        private long count;

        Whole(InputStream in, long length) {
            super(in);
            this.length = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int n) throws IOException {
            int read = super.read(target, offset, n);
            if (read < 0 && length >= 0 && count != length) {
                throw new IOException("the connection ended after " + count + " of " + length + " bytes");
            }
            count += Math.max(0, read);
            return read;
        }
    }
}
