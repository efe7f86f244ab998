package dev.tenon.kernels.x86.attention;

/// What the code of attention depends on.
///
/// @param type element type of keys and values
/// @param keyLength elements of a key, a multiple of [#MULTIPLE]
/// @param valueLength elements of a value, a multiple of [#MULTIPLE]
public record AttentionShape(Type type, int keyLength, int valueLength) {
    /// What lengths must be a multiple of.
    static final int MULTIPLE = 32;
    /// The longest head.
    static final int MOST = 512;

    /// Element types of a page.
    public enum Type {
        /// 32-bit floats.
        F32(4),
        /// 16-bit floats.
        F16(2),
        /// Bytes, with 16-bit scales of 32 elements.
        Q8_0(1);

        /// Bytes of an element, without its scale.
        final int bytes;

        Type(int bytes) {
            this.bytes = bytes;
        }
    }

    /// {@return bytes of a head's positions in a page}
    ///
    /// @param length elements of a position
    long headBytes(int length) {
        long scales = type == Type.Q8_0 ? (long) length / MULTIPLE * Short.BYTES : 0;
        return AttentionCode.TOKENS * ((long) length * type.bytes + scales);
    }

    /// {@return where float values are in scratch memory}
    int valuesAt() {
        return AttentionCode.KEYS + keyLength * AttentionCode.WEIGHTS_ROW;
    }

    /// {@return bytes of scratch memory}
    int scratchBytes() {
        return valuesAt() + AttentionCode.TOKENS * valueLength * Float.BYTES;
    }
}
