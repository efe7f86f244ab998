package dev.tenon.api.gguf;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One metadata value with its type in the file.
///
/// @param type the type; never null
/// @param elementType the element type when `type` is [GgufType#ARRAY], else null
/// @param value the value in the Java form that [GgufType] gives; arrays are not copied and must not be
///     changed
public record GgufValue(GgufType type, @Nullable GgufType elementType, Object value) {
    /// Checks that an array, and only an array, has an element type.
    public GgufValue {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(value, "value");
        if ((type == GgufType.ARRAY) != (elementType != null)) {
            throw new IllegalArgumentException("element type " + elementType + " does not go with type " + type);
        }
    }

    /// {@return a value of type [GgufType#STRING]}
    ///
    /// @param text the text
    public static GgufValue of(String text) {
        return new GgufValue(GgufType.STRING, null, text);
    }

    /// {@return a value of type [GgufType#UINT32]}
    ///
    /// @param number 0 to 2^32-1
    public static GgufValue ofUint32(long number) {
        return new GgufValue(GgufType.UINT32, null, number);
    }

    /// {@return a value of type [GgufType#FLOAT32]}
    ///
    /// @param number the number
    public static GgufValue of(float number) {
        return new GgufValue(GgufType.FLOAT32, null, number);
    }

    /// {@return a value of type [GgufType#BOOL]}
    ///
    /// @param bool the truth value
    public static GgufValue of(boolean bool) {
        return new GgufValue(GgufType.BOOL, null, bool);
    }

    /// {@return an array of strings}
    ///
    /// @param texts the elements; not copied
    public static GgufValue of(String[] texts) {
        return new GgufValue(GgufType.ARRAY, GgufType.STRING, texts);
    }

    /// {@return an array of float32}
    ///
    /// @param numbers the elements; not copied
    public static GgufValue of(float[] numbers) {
        return new GgufValue(GgufType.ARRAY, GgufType.FLOAT32, numbers);
    }

    /// {@return an array of int32}
    ///
    /// @param numbers the elements; not copied
    public static GgufValue ofInt32Array(long[] numbers) {
        return new GgufValue(GgufType.ARRAY, GgufType.INT32, numbers);
    }
}
