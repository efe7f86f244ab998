package dev.tenon.platform.core.gguf;

import dev.tenon.api.quant.QuantFormat;
import java.util.Objects;

/// How much room a tensor type takes: a row is a whole number of blocks.
///
/// @param number tensor type number in GGUF files
/// @param name the name as ggml spells it, such as `Q4_K`
/// @param blockSize elements in a block, at least 1
/// @param blockBytes bytes of a block, at least 1
public record TensorType(int number, String name, int blockSize, int blockBytes) {
    /// Checks that sizes are positive.
    public TensorType {
        Objects.requireNonNull(name, "name");
        if (number < 0 || blockSize < 1 || blockBytes < 1) {
            throw new IllegalArgumentException("type " + name + ": number " + number + ", block of " + blockSize
                    + " elements in " + blockBytes + " bytes; expected number >= 0 and sizes >= 1");
        }
    }

    /// {@return the sizes of a format}
    ///
    /// @param format a weight format
    public static TensorType of(QuantFormat format) {
        return new TensorType(format.ggmlType(), format.id(), format.blockSize(), format.blockBytes());
    }

    /// {@return bytes of `n` elements}
    ///
    /// @param n elements, a multiple of [#blockSize()]
    /// @throws IllegalArgumentException if `n` is negative or not a multiple of the block size
    /// @throws ArithmeticException if the size does not fit a long
    public long bytesFor(long n) {
        if (n < 0 || n % blockSize != 0) {
            throw new IllegalArgumentException(
                    n + " elements are not whole blocks of " + blockSize + " (" + name + ")");
        }
        return Math.multiplyExact(n / blockSize, (long) blockBytes);
    }
}
