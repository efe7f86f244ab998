package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.TokenSampling;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// Where the input of a step lies in the step buffer, in bytes; each array of int32 starts at a
/// multiple of 16.
///
/// Rows after the last token, up to the bucket, belong to no sequence (-1), and kernels skip them.
public final class StepLayout {
    private static final int CHOICE_BYTES = 40;

    private final StepShape shape;
    private final int tileRows;
    private final int tileCount;
    private final boolean hasLasts;
    private final long positions;
    private final long sequences;
    private final long lasts;
    private final long tokens;
    private final long tiles;
    private final long choices;
    private final long steps;
    private final int runCount;
    private final long runOfRow;
    private final long runs;
    private final List<AdapterFactor> factors;
    private final long scales;
    private final GivenLayout given;
    private final long bytes;

    /// Makes a layout.
    ///
    /// @param shape sizes
    /// @param tileRows rows of an attention tile; 0 if there is no attention
    /// @param maxSequences most sequences in a step
    /// @param hasLasts whether [#lasts] is there
    /// @param hasRuns whether [#runs] is there
    /// @param factors what [#scales] there are
    /// @param read what is read of what comes with tokens
    public StepLayout(
            StepShape shape,
            int tileRows,
            int maxSequences,
            boolean hasLasts,
            boolean hasRuns,
            List<AdapterFactor> factors,
            GivenInput read) {
        this.shape = shape;
        this.factors = factors;
        this.tileRows = tileRows;
        this.hasLasts = hasLasts;
        boolean tiled = tileRows > 0 && shape.rows() > StepShape.FEW && !shape.decode();
        tileCount = tiled ? (shape.rows() + tileRows - 1) / tileRows + Math.min(maxSequences, shape.rows()) : 0;
        tokens = aligned(shape.logitRows());
        positions = tokens + aligned(shape.rows());
        sequences = positions + aligned(shape.rows());
        lasts = sequences + aligned(shape.rows());
        tiles = lasts + (hasLasts ? aligned(shape.rows()) : 0);
        choices = tiles + 16L * tileCount;
        int choosing = shape.candidates() > 0 ? shape.logitRows() : 0;
        steps = choices + aligned(choosing * CHOICE_BYTES / Integer.BYTES);
        runCount = hasRuns ? Math.min(maxSequences, shape.rows()) : 0;
        runOfRow = steps + (choosing > 0 ? 16 : 0);
        runs = runOfRow + (hasRuns ? aligned(shape.rows()) : 0);
        scales = runs + 16L * runCount;
        long end = scales + factors.size() * (aligned(shape.rows()) + aligned(shape.logitRows()));
        given = GivenLayout.of(read, shape, end);
        bytes = Math.max(16, given.end());
    }

    private static long aligned(int elements) {
        return (elements * 4L + 15) / 16 * 16;
    }

    /// {@return offset of `logitRows[L]`: rows of the step}
    public long logitRows() {
        return 0;
    }

    /// {@return offset of `tokens[rows]`}
    public long tokens() {
        return tokens;
    }

    /// {@return offset of `positions[rows]`}
    public long positions() {
        return positions;
    }

    /// {@return offset of `sequences[rows]`}
    public long sequences() {
        return sequences;
    }

    /// {@return offset of `lasts[rows]`, the last position of each row's sequence in the step; there for rows
    ///     that see what follows them}
    public long lasts() {
        return lasts;
    }

    /// {@return offset of `tiles[tileCount][4]`: first row, rows, sequence, first position, the longest first}
    public long tiles() {
        return tiles;
    }

    /// {@return offset of `choices[L]`: temperature, top-k, top-p, min-p, seed, numbers drawn, 1 if masked}
    public long choices() {
        return choices;
    }

    /// {@return offset of the number of steps since the input was written}
    public long steps() {
        return steps;
    }

    /// {@return offset of `runOfRow[rows]`, the run that a row belongs to, -1 for none; there for states}
    public long runOfRow() {
        return runOfRow;
    }

    /// {@return offset of `runs[runCount][4]`, the rows of one sequence: first row, rows, state slot, 0; there for
    ///     states}
    public long runs() {
        return runs;
    }

    /// {@return runs that the step has room for; those after the last one have 0 rows}
    public int runCount() {
        return runCount;
    }

    /// {@return offset of float32 weights of the rows' adapters: `scales[rows]`, or, of the rows that want logits,
    ///     `scales[L]`}
    ///
    /// @param factor index of the factor
    /// @param selected whether those of the rows that want logits are asked for
    public long scales(int factor, boolean selected) {
        long before = factor * (aligned(shape.rows()) + aligned(shape.logitRows()));
        return scales + before + (selected ? aligned(shape.rows()) : 0);
    }

    /// {@return where what comes with tokens lies, as much as the shape has}
    public GivenLayout given() {
        return given;
    }

    /// {@return tiles of attention that the step has room for}
    public int tileCount() {
        return tileCount;
    }

    /// {@return bytes to copy}
    public long bytes() {
        return bytes;
    }

    /// Writes a step's input.
    ///
    /// @param input the step; checked
    /// @param firstLogit index of the first row, of those that want logits, that this run computes
    /// @param logits how many it computes
    /// @param target the step buffer as the host sees it
    public void write(StepInput input, int firstLogit, int logits, MemorySegment target) {
        int count = shape.rows() == 0 ? 0 : input.tokenCount();
        for (int t = 0; t < shape.rows(); t++) {
            boolean real = t < count;
            put(target, tokens, t, real ? input.token(t) : 0);
            put(target, positions, t, real ? input.position(t) : 0);
            put(target, sequences, t, real ? input.sequence(t) : -1);
            writeScales(input, false, t, t, real, target);
        }
        for (int l = 0, seen = 0, t = 0; l < shape.logitRows(); l++) {
            int row = 0;
            if (l < logits) {
                while (!input.wantsLogits(t) || seen++ < firstLogit) {
                    t++;
                }
                row = t++;
            }
            put(target, 0, l, row);
            writeScales(input, true, l, row, l < logits, target);
        }
        if (hasLasts) {
            writeLasts(input, count, target);
        }
        if (tileCount > 0) {
            writeTiles(input, target);
        }
        if (runCount > 0) {
            writeRuns(input, target);
        }
        given.write(input, target);
    }

    private void writeScales(
            StepInput input, boolean selected, int index, int row, boolean real, MemorySegment target) {
        for (int i = 0; i < factors.size(); i++) {
            float weight = real ? factors.get(i).of(input, row) : 0;
            target.set(ValueLayout.JAVA_FLOAT, scales(i, selected) + 4L * index, weight);
        }
    }

    private void writeRuns(StepInput input, MemorySegment target) {
        int run = 0;
        for (int first = 0; first < input.tokenCount(); run++) {
            int end = first;
            while (end < input.tokenCount() && input.sequence(end) == input.sequence(first)) {
                put(target, runOfRow, end++, run);
            }
            writeRun(target, run, first, end - first, input.stateSlot(input.sequence(first)));
            first = end;
        }
        for (int t = input.tokenCount(); t < shape.rows(); t++) {
            put(target, runOfRow, t, -1);
        }
        for (; run < runCount; run++) {
            writeRun(target, run, 0, 0, 0);
        }
    }

    private void writeRun(MemorySegment target, int run, int first, int rows, int slot) {
        put(target, runs, 4 * run, first);
        put(target, runs, 4 * run + 1, rows);
        put(target, runs, 4 * run + 2, slot);
        put(target, runs, 4 * run + 3, 0);
    }

    private void writeLasts(StepInput input, int count, MemorySegment target) {
        for (int t = shape.rows() - 1, last = 0; t >= 0; t--) {
            if (t < count && (t == count - 1 || input.sequence(t) != input.sequence(t + 1))) {
                last = input.position(t);
            }
            put(target, lasts, t, last);
        }
    }

    /// Writes how the device samples, and that it has not begun.
    ///
    /// @param how one a row that wants logits
    /// @param masked the rows whose masks are in [TokenMasks]
    /// @param target the step buffer as the host sees it
    public void writeChoices(List<TokenSampling> how, BitSet masked, MemorySegment target) {
        for (int row = 0; row < shape.logitRows(); row++) {
            TokenSampling choice = row < how.size() ? how.get(row) : TokenSampling.GREEDY;
            long at = choices + (long) CHOICE_BYTES * row;
            target.set(ValueLayout.JAVA_FLOAT, at, choice.params().temperature());
            target.set(ValueLayout.JAVA_INT, at + 4, choice.params().topK());
            target.set(ValueLayout.JAVA_FLOAT, at + 8, choice.params().topP());
            target.set(ValueLayout.JAVA_FLOAT, at + 12, choice.params().minP());
            target.set(ValueLayout.JAVA_LONG, at + 16, choice.params().seed());
            target.set(ValueLayout.JAVA_LONG, at + 24, choice.drawn());
            target.set(ValueLayout.JAVA_INT, at + 32, masked.get(row) ? 1 : 0);
        }
        put(target, steps, 0, 0);
    }

    /// The tiles with the longest rows first, because they run longest.
    private void writeTiles(StepInput input, MemorySegment target) {
        List<int[]> found = new ArrayList<>();
        int count = input.tokenCount();
        for (int first = 0; first < count; ) {
            int end = first + 1;
            while (end < count
                    && end - first < tileRows
                    && input.sequence(end) == input.sequence(first)
                    && input.position(end) == input.position(end - 1) + 1) {
                end++;
            }
            found.add(new int[] {first, end - first, input.sequence(first), input.position(first)});
            first = end;
        }
        if (found.size() > tileCount) {
            throw new IllegalStateException(found.size() + " tiles, planned for " + tileCount);
        }
        found.sort((a, b) -> Integer.compare(b[3] + b[1], a[3] + a[1]));
        for (int i = 0; i < tileCount; i++) {
            for (int k = 0; k < 4; k++) {
                put(target, tiles, 4 * i + k, i < found.size() ? found.get(i)[k] : 0);
            }
        }
    }

    private static void put(MemorySegment target, long offset, int index, int value) {
        target.set(ValueLayout.JAVA_INT, offset + 4L * index, value);
    }
}
