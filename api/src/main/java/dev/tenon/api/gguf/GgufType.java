package dev.tenon.api.gguf;

import java.util.Optional;

/// The value types of GGUF metadata.
public enum GgufType {
    /// Unsigned 8-bit integer, held as `Long`.
    UINT8(0),
    /// Signed 8-bit integer, held as `Long`.
    INT8(1),
    /// Unsigned 16-bit integer, held as `Long`.
    UINT16(2),
    /// Signed 16-bit integer, held as `Long`.
    INT16(3),
    /// Unsigned 32-bit integer, held as `Long`.
    UINT32(4),
    /// Signed 32-bit integer, held as `Long`.
    INT32(5),
    /// IEEE float32, held as `Float`.
    FLOAT32(6),
    /// Boolean, held as `Boolean`.
    BOOL(7),
    /// UTF-8 text, held as `String`.
    STRING(8),
    /// Array: `String[]`, `long[]` (all integer types), `float[]`, `double[]`, `boolean[]`, or `Object[]`
    /// of [GgufValue] for arrays of arrays.
    ARRAY(9),
    /// Unsigned 64-bit integer, held as `Long` (bits).
    UINT64(10),
    /// Signed 64-bit integer, held as `Long`.
    INT64(11),
    /// IEEE float64, held as `Double`.
    FLOAT64(12);

    private static final GgufType[] BY_NUMBER = values();

    private final int number;

    GgufType(int number) {
        this.number = number;
    }

    /// {@return the number of the type in files, 0 to 12}
    public int number() {
        return number;
    }

    /// {@return the type of a number; empty if there is none}
    ///
    /// @param number a number in a file
    public static Optional<GgufType> of(long number) {
        return number < 0 || number >= BY_NUMBER.length ? Optional.empty() : Optional.of(BY_NUMBER[(int) number]);
    }

    /// {@return whether values of this type are integers}
    public boolean isInteger() {
        return switch (this) {
            case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> true;
            case FLOAT32, BOOL, STRING, ARRAY, FLOAT64 -> false;
        };
    }
}
