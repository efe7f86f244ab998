package dev.tenon.api.quant;

import dev.tenon.api.quant.layout.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// One weight format: how a block of elements is laid out in bytes, and the scalar code that defines its
/// values.
///
/// A format is stateless and safe for any thread. Its decoder is the reference: fast kernels of
/// backends are tested against it, and a backend that has no kernel of its own for a format runs
/// through it. Rows always start at a block.
///
/// A format that gives its [#layout()] says all of this by it, and backends make their kernels of it; what is no
/// block of fields implements the rest instead.
///
/// Implemented by format bundles; found as OSGi service or through `ServiceLoader`.
@ConsumerType
public interface QuantFormat {
    /// {@return the name as ggml spells it, such as `Q4_K`; unique among the installed formats}
    String id();

    /// {@return the tensor type number in GGUF files, such as 12 for `Q4_K`}
    int ggmlType();

    /// {@return how a block is laid out, as data; always an equal one. Empty for a format that can only be
    /// described by its decoder}
    default Optional<BlockLayout> layout() {
        return Optional.empty();
    }

    /// {@return elements in a block, at least 1; by default the layout's}
    default int blockSize() {
        return required().size();
    }

    /// {@return bytes of a block, at least 1; by default the layout's}
    default int blockBytes() {
        return required().bytes();
    }

    /// Decodes elements to float32; the result is the format's definition, bit for bit. By default the layout's.
    ///
    /// @param source holds the blocks; borrowed, not kept; little-endian, no alignment is promised
    /// @param offsetBytes where the first block starts in `source`
    /// @param target receives the values
    /// @param targetOffset index of the first value in `target`
    /// @param n elements, a multiple of [#blockSize()]
    /// @throws IllegalArgumentException if `n` is not a multiple of the block size
    /// @throws IndexOutOfBoundsException if source or target are too small
    default void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        required().decode(source, offsetBytes, target, targetOffset, n);
    }

    /// {@return the encoder, or empty when the format can only be read}
    Optional<Quantizer> quantizer();

    /// {@return the largest error that the encoder may make: the root mean square error of encoding and
    /// decoding normally distributed values, relative to theirs; more than 0, at most 1, which is the error
    /// of zeros. The default follows from the bits of an element; a format that gives its bits to something
    /// else than the values' precision says what it reaches}
    default double roundTripBound() {
        double bits = 8.0 * blockBytes() / blockSize();
        return Math.min(1, blockSize() == 1 ? Math.pow(2, -bits / 2) : 3 * Math.pow(2, -bits));
    }

    /// {@return the bytes that `n` elements take}
    ///
    /// @param n elements, a multiple of [#blockSize()]
    /// @throws IllegalArgumentException if `n` is not a multiple of the block size
    /// @throws ArithmeticException if the size does not fit a long
    default long bytesFor(long n) {
        if (n < 0 || n % blockSize() != 0) {
            throw new IllegalArgumentException(
                    n + " elements are not whole blocks of " + blockSize() + " (" + id() + ")");
        }
        return Math.multiplyExact(n / blockSize(), blockBytes());
    }

    private BlockLayout required() {
        return layout().orElseThrow(() -> new UnsupportedOperationException(
                id() + " has no layout, so it must say its block's size and bytes, and decode it itself"));
    }
}
