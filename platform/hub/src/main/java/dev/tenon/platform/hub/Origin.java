package dev.tenon.platform.hub;

import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

/// Where a file comes from, and which version of it; kept in a file of its own beside it.
///
/// @param url the address that was asked for
/// @param etag the server's name of the version, or empty
/// @param modified when the server says that it was changed, or empty
/// @param length its length in bytes, or -1 when not known
public record Origin(String url, String etag, String modified, long length) {
    static Origin of(URI uri, HttpGet.Answer answer, long length) {
        return new Origin(
                uri.toString(),
                answer.headers().firstValue("ETag").orElse(""),
                answer.headers().firstValue("Last-Modified").orElse(""),
                length);
    }

    /// {@return the file beside another one that holds its origin}
    ///
    /// @param file the file
    public static Path beside(Path file) {
        return file.resolveSibling(file.getFileName() + ".origin");
    }

    /// {@return the origin of a file, if it is known}
    ///
    /// @param file the file
    /// @throws IOException if what is kept cannot be read
    public static Optional<Origin> read(Path file) throws IOException {
        Properties values = new Properties();
        try (Reader in = Files.newBufferedReader(beside(file))) {
            values.load(in);
        } catch (NoSuchFileException | IllegalArgumentException e) {
            return Optional.empty();
        }
        String length = values.getProperty("length", "");
        return Optional.of(new Origin(
                values.getProperty("url", ""),
                values.getProperty("etag", ""),
                values.getProperty("modified", ""),
                length.matches("\\d{1,18}") ? Long.parseLong(length) : -1));
    }

    /// Keeps the origin of a file.
    ///
    /// @param file the file
    public void write(Path file) {
        StringBuilder text = new StringBuilder();
        line(text, "url", url);
        line(text, "etag", etag);
        line(text, "modified", modified);
        line(text, "length", Long.toString(length));
        OutputFile.write(beside(file), true, text);
    }

    /// A line as [Properties] reads it.
    private static void line(StringBuilder text, String key, String value) {
        text.append(key).append('=').append(value.replace("\\", "\\\\").strip()).append('\n');
    }

    /// {@return what a server needs to send the rest of the same version only, or empty}
    String condition() {
        return etag.startsWith("\"") ? etag : modified;
    }

    /// {@return whether an answer is of the same version}
    ///
    /// @param other what the answer says of itself
    boolean sameVersion(Origin other) {
        return etag.equals(other.etag) && modified.equals(other.modified);
    }
}
