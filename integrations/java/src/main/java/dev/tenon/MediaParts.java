package dev.tenon;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Locale;

/// Pictures and sounds that are not at hand as bytes. What a file is, its content says; nothing is fetched from a
/// network.
public final class MediaParts {
    private static final String ANY = "application/octet-stream";
    private static final String BASE64 = ";base64";
    /// No picture or sound that is taken has as many.
    private static final long MOST_BYTES = 128 << 20;

    private MediaParts() {}

    /// Reads a file. Blocks.
    ///
    /// @param file a picture or sound
    /// @return its content
    /// @throws TenonException (`IO-001`) if it cannot be read, or is larger than any that is taken
    public static MediaPart of(Path file) {
        try {
            long bytes = Files.size(file);
            if (bytes > MOST_BYTES) {
                throw new TenonException(
                        ErrorCode.IO,
                        file + " has " + bytes + " bytes; expected at most " + MOST_BYTES + ". Make it smaller.");
            }
            return new MediaPart(ANY, ByteBuffer.wrap(Files.readAllBytes(file)));
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, file + " cannot be read: " + e, e);
        }
    }

    /// Reads what an address names: a file, or bytes in base64 that the address itself has. Blocks.
    ///
    /// @param address such as `file:///pictures/cat.png` or `data:image/png;base64,iVBORw…`
    /// @return the picture or sound
    /// @throws IllegalArgumentException if the address is of another kind, or its base64 is damaged
    /// @throws TenonException as [#of(Path)]
    public static MediaPart of(URI address) {
        String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
        return switch (scheme) {
            case "file" -> of(Path.of(address));
            case "data" -> data(address.getRawSchemeSpecificPart());
            default ->
                throw new IllegalArgumentException("Pictures and sounds are not fetched from addresses of the kind '"
                        + scheme + ":'; expected 'file:' or 'data:'. Read it, and give its bytes.");
        };
    }

    private static MediaPart data(String text) {
        int comma = text.indexOf(',');
        String head = text.substring(0, Math.max(0, comma));
        if (!head.endsWith(BASE64)) {
            throw new IllegalArgumentException("An address 'data:" + text.substring(0, Math.min(text.length(), 40))
                    + "…' has no base64; expected such as 'data:image/png;base64,…'.");
        }
        byte[] base64 = text.substring(comma + 1).getBytes(StandardCharsets.ISO_8859_1);
        return new MediaPart(
                head.substring(0, head.length() - BASE64.length()),
                ByteBuffer.wrap(Base64.getMimeDecoder().decode(base64)));
    }
}
