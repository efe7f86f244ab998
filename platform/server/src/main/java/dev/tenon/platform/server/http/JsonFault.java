package dev.tenon.platform.server.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import dev.tenon.api.http.RequestException;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Says in a client's words what is wrong with a body that cannot be read, and where.
final class JsonFault {
    private static final Pattern DUPLICATE = Pattern.compile("Duplicate field '(.*)'", Pattern.DOTALL);
    /// What the library adds of its own names and settings.
    private static final Pattern ASIDE = Pattern.compile(
            " \\((for|start marker|bound as).*|, from `[^`]*`|: (enable|not allowed as per).*|\\R.*", Pattern.DOTALL);

    private JsonFault() {}

    /// {@return the refusal of a body}
    ///
    /// @param failure what reading it failed with
    static RequestException of(IOException failure) {
        return switch (failure) {
            case StreamConstraintsException e ->
                RequestException.tooMuch(null, "json_limit", "The body exceeds a limit of JSON" + where(e) + ".")
                        .because(e);
            case JsonEOFException e -> invalid(e, "it ends too early");
            case JsonProcessingException e -> invalid(e, words(e));
            default -> // bytes are read, so only their encoding can fail
                RequestException.invalid(null, "The body is not valid JSON: its bytes are no text in UTF-8.")
                        .because(failure);
        };
    }

    private static RequestException invalid(JsonProcessingException failure, String what) {
        return RequestException.invalid(null, "The body is not valid JSON" + where(failure) + ": " + what + ".")
                .because(failure);
    }

    private static String words(JsonProcessingException failure) {
        String text = failure.getOriginalMessage();
        Matcher duplicate = DUPLICATE.matcher(text);
        if (duplicate.find()) {
            return "the field '" + Exchange.printable(duplicate.group(1)) + "' comes twice";
        }
        return text.startsWith("Trailing token")
                ? "something follows its end"
                : Exchange.printable(ASIDE.matcher(text).replaceAll(""));
    }

    private static String where(JsonProcessingException failure) {
        String path = failure.getProcessor() instanceof JsonParser parser ? path(parser.getParsingContext()) : "";
        return (path.isEmpty() ? "" : " in " + Exchange.printable(path))
                + (failure.getLocation() == null
                        ? ""
                        : " (line " + failure.getLocation().getLineNr() + ", column "
                                + failure.getLocation().getColumnNr() + ")");
    }

    /// The place as messages name it, such as `messages[0].content`.
    private static String path(JsonStreamContext at) {
        if (at == null || at.inRoot()) {
            return "";
        }
        String outer = path(at.getParent());
        if (at.inArray()) {
            return outer + "[" + at.getCurrentIndex() + "]";
        }
        return at.hasCurrentName() ? outer + (outer.isEmpty() ? "" : ".") + at.getCurrentName() : outer;
    }
}
