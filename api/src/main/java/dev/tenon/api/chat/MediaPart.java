package dev.tenon.api.chat;

import java.nio.ByteBuffer;
import java.util.Objects;

/// A picture, sound or film in a turn. No model takes one yet.
///
/// @param contentType what it is, such as `image/png`; never null
/// @param bytes the file's content; read-only; never null
public record MediaPart(String contentType, ByteBuffer bytes) {
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
