package dev.tenon.platform.server.page;

import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/// The files of the page at `/`. All but the page itself lie below a path with the digest of them all, so that browsers
/// keep them for ever and never mix two versions. Immutable; safe for any thread.
public final class PageFiles implements Endpoint {
    /// What the page may load and do: nothing but its own files, pictures that messages have, and requests to this
    /// server; no script or style that stands in a document, and no text becomes a document without passing the
    /// sanitiser.
    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types dompurify code-worker";

    private static final String LIST = "files.txt";
    private static final String INDEX = "index.html";
    private static final String VERSION = "{version}";
    private static final int DIGITS = 16;
    private static final int NOT_MODIFIED = 304;
    private static final int OK = 200;
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml",
            "txt", "text/plain; charset=utf-8");

    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private final Map<String, byte[]> zipped = new LinkedHashMap<>();
    private final String version;

    /// Reads the files of the jar.
    public PageFiles() {
        MessageDigest digest = sha256();
        for (String name : names()) {
            byte[] bytes = read(name);
            files.put(name, bytes);
            digest.update(bytes);
        }
        version = HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
        String index = new String(files.get(INDEX), StandardCharsets.UTF_8).replace(VERSION, version);
        files.put(INDEX, index.getBytes(StandardCharsets.UTF_8));
        files.forEach((name, bytes) -> zipped.put(name, zip(bytes)));
    }

    /// {@return the names of the files}
    static List<String> names() {
        return new String(read(LIST), StandardCharsets.UTF_8).lines().toList();
    }

    /// {@return the path that the page's further files have before their names}
    String folder() {
        return "/page/" + version + "/";
    }

    @Override
    public void handle(Exchange exchange) {
        String name = exchange.rest().isEmpty() ? INDEX : name(exchange.rest());
        byte[] bytes = files.get(name);
        if (bytes == null) {
            throw RequestException.notFound(
                    "not_found", "The page has no file " + Exchange.printable(name) + ". Load it again.");
        }
        String tag = '"' + version + '"';
        exchange.answerHeader("Content-Security-Policy", POLICY);
        exchange.answerHeader("X-Frame-Options", "DENY");
        exchange.answerHeader("Referrer-Policy", "no-referrer");
        exchange.answerHeader("Cross-Origin-Opener-Policy", "same-origin");
        exchange.answerHeader("Cross-Origin-Resource-Policy", "same-origin");
        exchange.answerHeader("Vary", "Accept, Accept-Encoding");
        exchange.answerHeader("ETag", tag);
        exchange.answerHeader("Cache-Control", name.equals(INDEX) ? "no-cache" : "public, max-age=31536000, immutable");
        if (tag.equals(exchange.header("If-None-Match"))) {
            exchange.write(NOT_MODIFIED, null, new byte[0]);
            return;
        }
        String accepted = exchange.header("Accept-Encoding");
        boolean zip = accepted != null && accepted.contains("gzip");
        if (zip) {
            exchange.answerHeader("Content-Encoding", "gzip");
        }
        exchange.write(OK, TYPES.get(name.substring(name.lastIndexOf('.') + 1)), (zip ? zipped : files).get(name));
    }

    /// {@return the name of a file of this version; of another one an empty text}
    private String name(String rest) {
        return rest.startsWith(version + "/") ? rest.substring(version.length() + 1) : "";
    }

    private static byte[] read(String name) {
        try (InputStream in = PageFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks the page's file " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] zip(byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
