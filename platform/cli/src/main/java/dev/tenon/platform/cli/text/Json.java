package dev.tenon.platform.cli.text;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/// Writes JSON.
public final class Json {
    private Json() {}

    /// Something that writes itself.
    @FunctionalInterface
    public interface Content {
        /// Writes one value.
        ///
        /// @param json where to
        /// @throws IOException if that fails
        void write(JsonGenerator json) throws IOException;
    }

    /// {@return a JSON value on one line}
    ///
    /// @param content writes the value
    public static String line(Content content) {
        return text(content, false);
    }

    /// {@return a JSON value over several lines}
    ///
    /// @param content writes the value
    public static String pretty(Content content) {
        return text(content, true);
    }

    private static String text(Content content, boolean pretty) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            if (pretty) {
                json.useDefaultPrettyPrinter();
            }
            content.write(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
