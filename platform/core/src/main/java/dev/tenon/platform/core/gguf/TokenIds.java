package dev.tenon.platform.core.gguf;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import java.util.OptionalInt;

/// Ids of special tokens in metadata.
public final class TokenIds {
    /// What some files write for a token that they do not have.
    private static final long NONE = 0xFFFFFFFFL;

    private TokenIds() {}

    /// {@return the id of a token; empty if the file names none, or says that there is none}
    ///
    /// @param metadata metadata of the file
    /// @param key key of the id
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-002`) if the value is no id
    public static OptionalInt find(GgufMetadata metadata, String key) {
        return isNone(metadata, key) ? OptionalInt.empty() : metadata.integer(key);
    }

    /// {@return whether the file says that there is no such token}
    ///
    /// @param metadata metadata of the file
    /// @param key key of the id
    public static boolean isNone(GgufMetadata metadata, String key) {
        GgufValue value = metadata.values().get(key);
        return value != null
                && value.type().isInteger()
                && ((long) value.value() == NONE || (long) value.value() == -1);
    }
}
