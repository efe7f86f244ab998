package dev.tenon.api.chat;

import java.nio.ByteBuffer;
import java.util.Objects;

/// A picture or sound in a turn, as its file is. Which formats and sizes are taken, the platform says.
///
/// @param contentType what it is, such as `image/png`; never null
/// @param bytes the file's content; read-only; never null
public record MediaPart(String contentType, ByteBuffer bytes) {
    /// Stands in the text of a turn in the place of a part: the object replacement character.
    public static final char PLACE = '\uFFFC';

    /// Checks that nothing is null.
    public MediaPart {
        Objects.requireNonNull(contentType, "contentType");
        bytes = bytes.asReadOnlyBuffer();
    }

    @Override
    public ByteBuffer bytes() {
        return bytes.duplicate();
    }
}
