package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.StreamMicroKernel;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.rows.RowLoop;
import dev.tenon.kernels.x86.linear.rows.RowLoop512;
import java.lang.foreign.MemorySegment;

/// The `linear` kernel of one format in generated machine code.
///
/// Up to four tokens each weight row is streamed once and multiplied with all of them; with more,
/// panels of 32 rows (AVX2: 16) are unpacked once into scratch memory and multiplied with all
/// tokens. Formats that can multiply pairs of rows (`PairLoop`) do so for two to eight tokens, some
/// of them four rows (`QuadLoop`) for up to 32 and where rows are long. All add in the same order:
/// a value is the same, bit for bit, for any number of tokens and every feature set.
///
/// [#run] and [#pack] allocate nothing.
public final class QuantizedLinear extends MachineLinear {
    /// Most tokens for which rows are streamed.
    private static final int FEW_TOKENS = 4;
    /// The same for words with AVX2, four tokens a time: unpacking takes as long as multiplying
    /// nine tokens.
    private static final int FEW_TOKENS_OF_WORDS = 12;

    /// Least rows that are worth several streams.
    private static final int STREAM_ROWS_LEAST = 16;

    /// Where activations are spread for streams: after the results.
    private static final long SPREAD_OFFSET = (long) RowLoop.MAX_TOKENS * STREAM_ROWS * Float.BYTES;

    private final BlockCode format;
    private final PanelLinear panels;
    /// How four streams are multiplied at once; null where that is not done.
    private final StreamMicroKernel four;
    /// How pairs of rows, or four, are multiplied with some tokens; null where that is not done.
    private final PairLinear pairs;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param format the format
    /// @param set which instructions may be used
    public QuantizedLinear(BlockCode format, FeatureSet set) {
        super(format.id, format.blockSize(), set);
        this.format = format;
        this.panels = new PanelLinear(format, set);
        this.four = set.wide ? format.streams512() : null;
        PairMicroKernel pair = set.wide ? format.pairs512() : null;
        this.pairs = pair == null ? null : new PairLinear(format, pair, format.quads512());
    }

    @Override
    public long packedBytes(int n) {
        requireLength(n);
        return PackedActivations.packedBytes(format, n);
    }

    @Override
    public long scratchBytes(int n, int tokens) {
        long stream = Math.max(super.scratchBytes(n, tokens), SPREAD_OFFSET + spreadBytes(n));
        if (pairs != null && tokens > 1) {
            stream = Math.max(stream, pairs.scratchBytes(n, tokens));
        }
        return usesPanels(tokens) ? Math.max(stream, panels.scratchBytes(n, tokens)) : stream;
    }

    /// {@return bytes of a row of activations in the order that four streams want}
    private long spreadBytes(int n) {
        return four == null
                ? 0
                : (PackedActivations.spans(n) + (format.tiled ? PackedActivations.tiles(n) : 0)) * four.spreadBytes;
    }

    @Override
    long weightBytes(int n) {
        return format.rowBytes(n);
    }

    @Override
    LinearCode generateCode() {
        return LinearCode.generate(format, set);
    }

    private boolean usesPanels(int tokens) {
        return tokens > (format.words && !set.wide ? FEW_TOKENS_OF_WORDS : FEW_TOKENS);
    }

    @Override
    void packChecked(LinearCode k, HostFloats x, int xOffset, int n, MemorySegment packed, long packedOffset) {
        NativeCall.critical(
                k.pack, x.view(), packed, (long) xOffset * Float.BYTES, rowLength(n), scalesOffset(n), packedOffset);
    }

    @Override
    long rowLength(int n) {
        return n / BlockCode.UNIT;
    }

    @Override
    long scalesOffset(int n) {
        return PackedActivations.scalesOffset(format, n);
    }

    @Override
    void runChecked(LinearCode k, LinearCall call) {
        if (pairs != null && pairs.takes(call.n, call.tokens)) {
            pairs.run(k, call);
            return;
        }
        if (usesPanels(call.tokens)) {
            panels.run(k, call);
            return;
        }
        int done = 0;
        if (call.tokens == 1 && k.streams != null && call.n % BlockCode.SPAN == 0 && call.rows >= STREAM_ROWS_LEAST) {
            done = call.rows / RowLoop512.STREAMS * RowLoop512.STREAMS;
            runStreams(k, call, done);
        }
        if (done < call.rows) {
            runRows(k, call, done);
        }
    }

    /// Multiplies rows with one token.
    ///
    /// @param rows how many of the call's, a multiple of [RowLoop512#STREAMS]
    private void runStreams(LinearCode k, LinearCall call, int rows) {
        for (int r = 0; r < rows; r += STREAM_ROWS) {
            int count = Math.min(STREAM_ROWS, rows - r);
            int each = count / RowLoop512.STREAMS;
            NativeCall.plain(
                    k.streams,
                    call.weights,
                    call.packed,
                    call.scratch,
                    call.rowAt(r),
                    call.rowBytes,
                    each,
                    each * call.rowBytes,
                    scalesOffset(call.n),
                    (long) each * Float.BYTES,
                    rowLength(call.n),
                    four == null ? 0 : SPREAD_OFFSET);
            copyOut(call, 0, 0, 0, 1, r, count);
        }
    }
}
