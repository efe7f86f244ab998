package dev.tenon.platform.server.media;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.http.RequestException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Locale;

/// Reads the pictures and sounds of a request, as files: nothing of them is looked at. For one thread.
public final class MediaReader {
    /// Most bytes of a file.
    static final int MOST_BYTES = 32 << 20;

    private static final int MOST_LETTERS = Math.ceilDiv(MOST_BYTES, 3) * 4;
    /// Most bytes of the files of a request that are at other URLs.
    private static final int MOST_FETCHED = 2 * MOST_BYTES;

    private static final int MOST_FETCHES = 16;
    private static final String DATA = "data:";
    private static final String BASE64 = ";base64";

    private final MediaUrls urls;
    private int fetches = MOST_FETCHES;
    private int left = MOST_FETCHED;

    /// @param urls which files a request may name by URL
    public MediaReader(MediaUrls urls) {
        this.urls = urls;
    }

    /// {@return the file at a URL}
    ///
    /// @param field where the request has it
    /// @param url the URL
    /// @throws RequestException (400) that names the field if it is not read
    public MediaPart url(String field, String url) {
        if (url.regionMatches(true, 0, DATA, 0, DATA.length())) {
            return data(field, url);
        }
        if (fetches-- == 0 || left == 0) {
            throw RequestException.tooMuch(
                    field,
                    "too_many",
                    "More than " + MOST_FETCHES + " files, or " + MOST_FETCHED
                            + " bytes of files, are at URLs. Send some as data:image/png;base64,...");
        }
        try {
            int most = Math.min(left, MOST_BYTES);
            byte[] file = urls.read(url, most);
            if (file.length > most) {
                throw tooLarge(field);
            }
            left -= file.length;
            return new MediaPart("", ByteBuffer.wrap(file));
        } catch (IOException e) {
            throw RequestException.invalid(
                            field,
                            field + " is no data URL, and is not read: " + e.getMessage()
                                    + ". Send data:image/png;base64,...")
                    .because(e);
        }
    }

    private static MediaPart data(String field, String url) {
        int comma = url.indexOf(',');
        String head = comma < 0 ? "" : url.substring(DATA.length(), comma).toLowerCase(Locale.ROOT);
        if (!head.endsWith(BASE64)) {
            throw RequestException.invalid(
                    field, field + " is a data URL without base64; expected one like data:image/png;base64,...");
        }
        return base64(field, head.split(";", 2)[0], url.substring(comma + 1));
    }

    /// {@return the file that a text has in base64}
    ///
    /// @param field where the request has it
    /// @param type its content type; empty if it is not known
    /// @param text the base64, without line ends
    /// @throws RequestException (400) that names the field if it is not read
    public static MediaPart base64(String field, String type, String text) {
        if (text.length() > MOST_LETTERS) {
            throw tooLarge(field);
        }
        try {
            byte[] file = Base64.getDecoder().decode(text);
            if (file.length > 0) {
                return new MediaPart(type, ByteBuffer.wrap(file));
            }
        } catch (IllegalArgumentException e) {
            throw RequestException.invalid(field, field + " is no base64: " + e.getMessage() + ".")
                    .because(e);
        }
        throw RequestException.invalid(field, field + " is empty; expected a file in base64.");
    }

    static RequestException tooLarge(String field) {
        return RequestException.tooMuch(
                field, "media_too_large", field + " has more than " + MOST_BYTES + " bytes. Send a smaller file.");
    }
}
