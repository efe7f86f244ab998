package dev.tenon.quant.formats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// What the formats that are written share: the encoder's checks and its walk over the blocks through a small byte
/// array.
///
/// A subclass only says how floats become whole blocks in a byte array. Stateless, for any thread.
abstract class BlockFormat extends LayoutFormat {
    /// Blocks are copied in portions of about this many bytes, so that they stay in the first-level
    /// cache.
    private static final int PORTION_BYTES = 4096;

    /// A thread's portion, into which blocks are encoded.
    private static final ThreadLocal<byte[]> PORTION = ThreadLocal.withInitial(() -> new byte[PORTION_BYTES]);

    private final BlockLayout layout;
    private final boolean finiteOnly;
    private final Optional<Quantizer> quantizer = Optional.of(this::quantize);

    /// Creates a format.
    ///
    /// @param id ggml's name
    /// @param ggmlType tensor type number in GGUF files
    /// @param layout how a block is laid out
    /// @param finiteOnly whether the encoder refuses NaN and infinity, because a block has a common
    ///     scale
    BlockFormat(String id, int ggmlType, BlockLayout layout, boolean finiteOnly) {
        super(id, ggmlType, layout);
        this.layout = layout;
        this.finiteOnly = finiteOnly;
    }

    /// Encodes whole blocks; ranges are checked before. Every byte of every block must be written.
    /// As in ggml, values too large for a half-precision scale (far beyond any weight) give an
    /// infinite scale, and values too small give a scale of 0.
    ///
    /// @param in the values
    /// @param at index of the first value in `in`
    /// @param out receives the blocks from index 0; holds old data
    /// @param blocks how many
    abstract void encode(float[] in, int at, byte[] out, int blocks);

    @Override
    public final Optional<Quantizer> quantizer() {
        return quantizer;
    }

    private void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
        checkRanges(source, sourceOffset, "source", target, offsetBytes, "target", n);
        if (finiteOnly) {
            checkFinite(source, sourceOffset, n);
        }
        int blockSize = layout.size();
        int blockBytes = layout.bytes();
        int portion = Math.max(1, PORTION_BYTES / blockBytes);
        int left = n / blockSize;
        byte[] bytes = PORTION.get();
        int from = sourceOffset;
        long to = offsetBytes;
        while (left > 0) {
            int now = Math.min(left, portion);
            encode(source, from, bytes, now);
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, to, now * blockBytes);
            from += now * blockSize;
            to += (long) now * blockBytes;
            left -= now;
        }
    }

    private void checkFinite(float[] values, int at, int n) {
        for (int i = at; i < at + n; i++) {
            if (!Float.isFinite(values[i])) {
                throw new IllegalArgumentException(
                        "%s: the value at index %d is %s; only finite values can be encoded (NaN would spoil its block)"
                                .formatted(id(), i, values[i]));
            }
        }
    }
}
