package dev.tenon.api.gguf;

/// The value types of GGUF metadata, in the order of their numbers in the file (0 to 12).
public enum GgufType {
    /// Unsigned 8-bit integer, held as `Long`.
    UINT8,
    /// Signed 8-bit integer, held as `Long`.
    INT8,
    /// Unsigned 16-bit integer, held as `Long`.
    UINT16,
    /// Signed 16-bit integer, held as `Long`.
    INT16,
    /// Unsigned 32-bit integer, held as `Long`.
    UINT32,
    /// Signed 32-bit integer, held as `Long`.
    INT32,
    /// IEEE float32, held as `Float`.
    FLOAT32,
    /// Boolean, held as `Boolean`.
    BOOL,
    /// UTF-8 text, held as `String`.
    STRING,
    /// Array: `String[]`, `long[]` (all integer types), `float[]`, `double[]`, `boolean[]`, or `Object[]`
    /// of [GgufValue] for arrays of arrays.
    ARRAY,
    /// Unsigned 64-bit integer, held as `Long` (bits).
    UINT64,
    /// Signed 64-bit integer, held as `Long`.
    INT64,
    /// IEEE float64, held as `Double`.
    FLOAT64;

    /// {@return whether values of this type are integers}
    public boolean isInteger() {
        return switch (this) {
            case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> true;
            case FLOAT32, BOOL, STRING, ARRAY, FLOAT64 -> false;
        };
    }
}
