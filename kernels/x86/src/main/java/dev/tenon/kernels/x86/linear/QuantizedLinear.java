package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.StreamMicroKernel;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.panels.PanelFunctions;
import dev.tenon.kernels.x86.linear.panels.PanelLoop;
import dev.tenon.kernels.x86.linear.rows.RowLoop512;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The `linear` kernel of one format in generated machine code.
///
/// Up to four tokens each weight row is streamed once and multiplied with all of them; with more,
/// panels of 32 rows (AVX2: 16) are unpacked once into scratch memory and multiplied with all tokens. Formats
/// that can multiply pairs of rows (`PairLoop`) do so for two to eight tokens, some of them four rows
/// (`QuadLoop`) for up to 32 and where rows are long. All add in the same order: a value is the same, bit
/// for bit, for any number of tokens and every feature set.
///
/// [#run] and [#pack] allocate nothing.
public final class QuantizedLinear extends LinearKernel {
    /// Most tokens for which rows are streamed.
    private static final int FEW_TOKENS = 4;
    /// The same for words with AVX2, four tokens a time: unpacking takes as long as multiplying nine tokens.
    private static final int FEW_TOKENS_OF_WORDS = 12;

    /// Least rows that are worth several streams.
    private static final int STREAM_ROWS_LEAST = 16;

    /// Rows of results that are kept in scratch memory before they are copied out: whole panels.
    private static final int PANEL_BLOCK = 64;

    /// Least tokens for which machine code writes to the array of results itself.
    static final int DIRECT_TOKENS = 24;

    /// Products in one call of a panel function: some tens of microseconds.
    private static final int BRIEF_PRODUCTS = 3 << 20;

    /// Where activations are spread for streams: behind the results.
    private static final long SPREAD_OFFSET = (long) RowLoop512.MAX_TOKENS * STREAM_ROWS * Float.BYTES;

    private final BlockCode format;
    private final PanelShape shape;
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
        this.shape = PanelShape.of(set);
        this.four = set == FeatureSet.AVX512 ? format.streams512() : null;
        PairMicroKernel pair = set == FeatureSet.AVX512 ? format.pairs512() : null;
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
        return usesPanels(tokens) ? Math.max(stream, resultOffset(n) + resultBytes(tokens)) : stream;
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
        return tokens > (format.words && set != FeatureSet.AVX512 ? FEW_TOKENS_OF_WORDS : FEW_TOKENS);
    }

    /// Scratch memory with panels: temp, a panel, results `[tokens][PANEL_BLOCK]`.
    private long resultOffset(int n) {
        return PanelShape.TEMP_BYTES + shape.panelBytes(format, n);
    }

    private static long resultBytes(int tokens) {
        return (long) tokens * PANEL_BLOCK * Float.BYTES;
    }

    @Override
    void packChecked(LinearCode k, HostFloats x, int xOffset, int n, MemorySegment packed, long packedOffset) {
        CodeMemory.Call.critical(
                k.pack,
                x.view(),
                packed,
                (long) xOffset * Float.BYTES,
                n / BlockCode.UNIT,
                PackedActivations.scalesOffset(format, n),
                packedOffset);
    }

    @Override
    void runChecked(
            LinearCode k,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        if (pairs != null && pairs.takes(n, tokens)) {
            pairs.run(k, weights, rowBytes, firstRow, rows, n, packed, tokens, out, outOffset, outStride, scratch);
            return;
        }
        if (usesPanels(tokens)) {
            runPanels(k, weights, rowBytes, firstRow, rows, n, packed, tokens, out, outOffset, outStride, scratch);
            return;
        }
        long units = n / BlockCode.UNIT;
        long scales = PackedActivations.scalesOffset(format, n);
        int done = 0;
        if (tokens == 1 && k.streams != null && n % BlockCode.SPAN == 0 && rows >= STREAM_ROWS_LEAST) {
            done = rows / RowLoop512.STREAMS * RowLoop512.STREAMS;
            runStreams(k, units, scales, weights, rowBytes, firstRow, done, packed, out, outOffset, scratch);
        }
        if (done < rows) {
            runRows(
                    k,
                    units,
                    scales,
                    weights,
                    rowBytes,
                    firstRow + done,
                    rows - done,
                    n,
                    packed,
                    tokens,
                    out,
                    outOffset + done,
                    outStride,
                    scratch);
        }
    }

    /// Multiplies rows with one token.
    ///
    /// @param rows a multiple of [RowLoop512#STREAMS]
    private void runStreams(
            LinearCode k,
            long units,
            long scales,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            MemorySegment packed,
            HostFloats out,
            int outOffset,
            MemorySegment scratch) {
        for (int r = 0; r < rows; r += STREAM_ROWS) {
            int count = Math.min(STREAM_ROWS, rows - r);
            int each = count / RowLoop512.STREAMS;
            CodeMemory.Call.plain(
                    k.streams,
                    weights,
                    packed,
                    scratch,
                    (firstRow + (long) r) * rowBytes,
                    rowBytes,
                    each,
                    each * rowBytes,
                    scales,
                    (long) each * Float.BYTES,
                    units,
                    four == null ? 0 : SPREAD_OFFSET);
            MemorySegment.copy(scratch, ValueLayout.JAVA_FLOAT, 0, out.array(), outOffset + r, count);
        }
    }

    private void runPanels(
            LinearCode k,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        long block = resultOffset(n);
        boolean direct = tokens >= DIRECT_TOKENS;
        int whole = direct ? rows / shape.rows() * shape.rows() : 0;
        if (whole > 0) {
            panels(
                    k,
                    weights,
                    rowBytes,
                    firstRow,
                    whole,
                    n,
                    packed,
                    tokens,
                    scratch,
                    out.view(),
                    (long) outOffset * Float.BYTES,
                    outStride);
        }
        for (int r = whole; r < rows; r += PANEL_BLOCK) {
            int count = Math.min(PANEL_BLOCK, rows - r);
            panels(
                    k,
                    weights,
                    rowBytes,
                    (long) firstRow + r,
                    count,
                    n,
                    packed,
                    tokens,
                    scratch,
                    scratch,
                    block,
                    PANEL_BLOCK);
            for (int t = 0; t < tokens; t++) {
                MemorySegment.copy(
                        scratch,
                        ValueLayout.JAVA_FLOAT,
                        block + (long) t * PANEL_BLOCK * Float.BYTES,
                        out.array(),
                        outOffset + t * outStride + r,
                        count);
            }
        }
    }

    /// Multiplies rows; writes whole panels, `[tokens][stride]` floats from byte `at` of
    /// `results` on.
    private void panels(
            LinearCode k,
            MemorySegment weights,
            long rowBytes,
            long row,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            MemorySegment scratch,
            MemorySegment results,
            long at,
            int stride) {
        PanelFunctions.Length functions = k.panels.of(n);
        int most = Math.max(1, BRIEF_PRODUCTS / (shape.rows() * shape.many() * n));
        int fetches = PanelLoop.fetches(format, n, shape.rows(), shape.runs(tokens));
        long fetched = fetches * PanelLoop.fetchedBytes(format, n);
        for (int p = 0; p < rows; p += shape.rows()) {
            unpackPanel(k, weights, rowBytes, row + p, rows - p, n, scratch);
            long to = at + (long) p * Float.BYTES;
            long next = (row + p + shape.rows()) * rowBytes;
            long end = (row + Math.min(p + 2 * shape.rows(), rows)) * rowBytes;
            long ahead = next;
            int t = 0;
            while (t < tokens) {
                int left = tokens - t;
                int times = Math.min(shape.runsOfMany(left), most);
                boolean many = times > 0;
                int size = many ? shape.many() : shape.few();
                times = Math.max(times, 1);
                // The last tokens may be computed twice rather than one by one.
                int first = Math.min(t, tokens - times * size);
                boolean fetch = ahead < end;
                panel(
                        many ? functions.many() : functions.few(),
                        n,
                        packed,
                        first,
                        times,
                        scratch,
                        results,
                        to,
                        stride,
                        fetch ? weights.address() + ahead : scratch.address(),
                        fetch ? fetches : 1);
                ahead += times * fetched;
                t = first + times * size;
            }
        }
    }

    private void unpackPanel(
            LinearCode k, MemorySegment weights, long rowBytes, long row, int rows, int n, MemorySegment scratch) {
        for (int part = 0; part < 2; part++) {
            int count = Math.min(shape.lanes(), rows - part * shape.lanes());
            if (count <= 0) {
                return;
            }
            long first = PanelShape.TEMP_BYTES + part * (long) shape.lanes() * Float.BYTES;
            CodeMemory.Call.plain(
                    k.unpack,
                    weights,
                    scratch,
                    scratch,
                    (row + part * shape.lanes()) * rowBytes,
                    rowBytes,
                    count,
                    n / BlockCode.UNIT,
                    first,
                    0,
                    0,
                    0);
        }
    }

    private void panel(
            MemorySegment function,
            int n,
            MemorySegment packed,
            int token,
            int times,
            MemorySegment scratch,
            MemorySegment results,
            long at,
            int stride,
            long ahead,
            int fetches) {
        long packedStride = PackedActivations.packedBytes(format, n);
        CodeMemory.Call.brief(
                function,
                packed,
                scratch,
                results,
                token * packedStride,
                (long) stride * Float.BYTES,
                times,
                at + (long) token * stride * Float.BYTES,
                ahead,
                fetches,
                0,
                0);
    }
}
