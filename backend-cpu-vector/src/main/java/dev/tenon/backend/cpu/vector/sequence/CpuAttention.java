package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuElementwise;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.util.Arrays;

/// Appends keys and values to the cache, unless another op of its layer did, then attends, page by page.
///
/// The softmax is computed online (Milakov and Gimelshein 2018): a running maximum, the sum of weights,
/// and the weighted sum of values, rescaled when a page raises the maximum. The context is cut into
/// segments of [#SEGMENT_PAGES] pages; each is computed by itself, and the results are merged in order.
/// Borders of pages and segments are at fixed positions, so the result for a token depends neither on
/// which other tokens are in the step nor on the number of threads. A page is read and converted to
/// float32 once for all query heads and tokens of a block that see it.
///
/// @param op the op
/// @param appended keys and values of the step; null unless it is the first op of its layer
/// @param q `[T, headCount * keyLength]`
/// @param chosen `[T, count]`, the positions that a token attends to, of a [SelectPositions]; null for all that it sees
/// @param run positions of a run, of which the last is attended to; 1 for all
/// @param far what else the softmax is over, or null
/// @param cache the pages
/// @param kernel computes whole pages; null where `math` does
/// @param math the arithmetic of this backend
/// @param sinks a score of each head without a value, or empty
/// @param bias elements of the table of the bias of scores, or empty
/// @param out `[T, headCount * valueLength]`
public record CpuAttention(
        CoreOp.Attention op,
        CpuKv.Appended appended,
        Activations q,
        Activations chosen,
        int run,
        CpuAttention far,
        CpuKv cache,
        AttentionKernel kernel,
        AttentionMath math,
        float[] sinks,
        float[] bias,
        Activations out)
        implements CpuKernel {
    /// Pages of a segment.
    static final int SEGMENT_PAGES = 4;

    private static final int SEGMENT = SEGMENT_PAGES * CpuKv.TOKENS;

    /// {@return query rows that a thread takes at once for an op}
    ///
    /// @param op the op
    static int rows(CoreOp.Attention op) {
        return Math.multiplyExact(StepContext.BLOCK_TOKENS, op.headCount() / op.headCountKv());
    }

    /// {@return segments that a number of pages makes}
    ///
    /// @param pages pages
    static int segments(int pages) {
        return (pages + SEGMENT_PAGES - 1) / SEGMENT_PAGES;
    }

    /// One phase is enough where the thread that attends can append first: nobody else reads those
    /// positions.
    @Override
    public int phases(StepContext c) {
        return appends() && !c.oneBlockEach() ? 2 : 1;
    }

    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int heads = op.headCountKv();
        int items = c.blockCount() * heads;
        boolean appendFirst = appends() && c.oneBlockEach();
        if (appends() && !appendFirst && phase == 0) {
            for (int i = c.claim(1); i < items; i = c.claim(1)) {
                append(c, i / heads, i % heads, c.tiles(thread));
            }
            return;
        }
        if (far == null && c.input().tokenCount() == 1 && fits(c)) {
            decode(c, thread);
            return;
        }
        for (int i = c.claim(1); i < items; i = c.claim(1)) {
            // The last blocks see the most: they come first, so that no thread ends with a long one.
            int block = c.blockCount() - 1 - i / heads;
            if (appendFirst) {
                append(c, block, i % heads, c.tiles(thread));
            }
            attend(c, block, i % heads, c.tiles(thread), thread);
        }
    }

    /// A page table may name a page twice, and so be longer than the cache.
    private boolean fits(StepContext c) {
        int segments = c.input().position(0) / SEGMENT + 1;
        return (long) segments * op.headCount() <= c.split().states().max().length;
    }

    private boolean appends() {
        return appended != null || far != null && far.appends();
    }

    private void append(StepContext c, int block, int head, Tiles tiles) {
        if (appended != null) {
            append(c, block, head, appended, cache, tiles);
        }
        if (far != null) {
            far.append(c, block, head, tiles);
        }
    }

    /// Stores keys and values of the tokens of a block, as many at once as stand next to each other in a page.
    static void append(StepContext c, int block, int head, CpuKv.Appended appended, CpuKv cache, Tiles tiles) {
        int end = c.blockStart(block + 1);
        int t = c.blockStart(block);
        while (t < end) {
            int position = c.input().position(t);
            int page = cache.table(c.input(), c.input().sequence(t))[position / CpuKv.TOKENS];
            int slot = position % CpuKv.TOKENS;
            int count = 1;
            while (t + count < end
                    && slot + count < CpuKv.TOKENS
                    && c.input().position(t + count) == position + count) {
                count++;
            }
            cache.store(appended, page, slot, count, head, t, tiles.f16());
            t += count;
        }
    }

    /// One token: key heads and segments of the context are shared among the threads; the thread that
    /// ends a head's last segment merges them.
    private void decode(StepContext c, int thread) {
        int group = op.headCount() / op.headCountKv();
        int stride = AttentionMath.aligned(op.valueLength());
        int position = c.input().position(0);
        int firstSegment = op.params().firstSeen(position) / SEGMENT;
        int lastSegment = position / SEGMENT;
        int segments = lastSegment - firstSegment + 1;
        Tiles tiles = c.tiles(thread);
        Tiles.State shared = c.split().states();
        int items = segments * op.headCountKv();
        for (int i = c.claim(1); i < items; i = c.claim(1)) {
            int head = i / segments;
            // The newest segment first: it begins with an append.
            int segment = lastSegment - i % segments;
            if (appended != null && segment == lastSegment) {
                append(c, 0, head, tiles);
            }
            loadQueries(c, 0, 1, head, tiles.q());
            segment(c, 0, 1, head, segment, tiles, thread);
            int base = (head * segments + segment - firstSegment) * group;
            for (int g = 0; g < group; g++) {
                shared.max()[base + g] = tiles.segment().max()[g];
                shared.sum()[base + g] = tiles.segment().sum()[g];
            }
            System.arraycopy(tiles.segment().acc(), 0, shared.acc(), base * stride, group * stride);
            if (c.split().done().incrementAndGet(head) == segments) {
                c.split().done().set(head, 0);
                tiles.total().clear(group, stride);
                for (int s = 0; s < segments; s++) {
                    for (int g = 0; g < group; g++) {
                        tiles.total().merge(g, shared, (head * segments + s) * group + g, stride);
                    }
                }
                store(0, 1, head, tiles.total());
            }
        }
    }

    /// Attends for the tokens of a block and the query heads that share a key head.
    private void attend(StepContext c, int block, int head, Tiles tiles, int thread) {
        int first = c.blockStart(block);
        int end = c.blockStart(block + 1);
        int rows = (end - first) * (op.headCount() / op.headCountKv());
        int stride = AttentionMath.aligned(op.valueLength());
        loadQueries(c, first, end, head, tiles.q());
        tiles.total().clear(rows, stride);
        segments(c, first, end, head, tiles, thread);
        if (far != null) {
            far.segments(c, first, end, head, tiles, thread);
        }
        store(first, end, head, tiles.total());
    }

    /// Merges all segments that the tokens of a block see into their state.
    private void segments(StepContext c, int first, int end, int head, Tiles tiles, int thread) {
        int rows = (end - first) * (op.headCount() / op.headCountKv());
        int stride = AttentionMath.aligned(op.valueLength());
        int firstSegment = firstSeen(c, first) / SEGMENT;
        int lastSegment = lastSeen(c, end - 1) / SEGMENT;
        for (int s = firstSegment; s <= lastSegment; s++) {
            segment(c, first, end, head, s, tiles, thread);
            for (int r = 0; r < rows; r++) {
                tiles.total().merge(r, tiles.segment(), r, stride);
            }
        }
    }

    /// Copies the query rows, token after token, and scales them.
    private void loadQueries(StepContext c, int first, int end, int head, float[] target) {
        int width = op.headCount() / op.headCountKv() * op.keyLength();
        float scale = op.params().scale();
        for (int t = first; t < end; t++) {
            int from = t * q.width + head * width;
            int to = (t - first) * width;
            for (int i = 0; i < width; i++) {
                target[to + i] = q.data[from + i] * scale;
            }
        }
    }

    /// Computes the state of a segment for the tokens of a block.
    private void segment(StepContext c, int first, int end, int head, int segment, Tiles tiles, int thread) {
        int group = op.headCount() / op.headCountKv();
        int stride = AttentionMath.aligned(op.valueLength());
        tiles.segment().clear((end - first) * group, stride);
        int[] table = cache.table(c.input(), c.input().sequence(first));
        int lastPosition = lastSeen(c, end - 1);
        int firstSeen = firstSeen(c, first);
        int firstPage = Math.max(firstSeen / CpuKv.TOKENS, segment * SEGMENT_PAGES);
        int lastPage = Math.min(lastPosition / CpuKv.TOKENS, (segment + 1) * SEGMENT_PAGES - 1);
        for (int index = firstPage; index <= lastPage; index++) {
            int base = index * CpuKv.TOKENS;
            if (kernel != null) {
                page(c, first, end, head, table[index], base, thread);
                continue;
            }
            int from = Math.max(firstSeen - base, 0);
            int to = Math.min(lastPosition + 1 - base, CpuKv.TOKENS);
            cache.loadKeys(op.layer(), table[index], head, op.keyLength(), tiles, math);
            if (op.params().valuesInKeys()) {
                CpuKv.valuesOfKeys(op.valueLength(), stride, from, to, tiles);
            } else {
                cache.loadValues(op, table[index], head, from, to, tiles, math);
            }
            // Tokens that see the same positions of the page go together.
            int t = first;
            while (t < end) {
                int seenFrom = seenFrom(c, t, base);
                int seenTo = seenTo(c, t, base);
                int next = t + 1;
                while (next < end && seenFrom(c, next, base) == seenFrom && seenTo(c, next, base) == seenTo) {
                    next++;
                }
                if (seenFrom < seenTo) {
                    scores((t - first) * group, (next - t) * group, seenFrom, seenTo, tiles);
                    for (int s = t; s < next && op.params().scoreBias().isPresent(); s++) {
                        addBias(
                                c.input().position(s) - base,
                                head * group,
                                (s - first) * group,
                                seenFrom,
                                seenTo,
                                tiles);
                    }
                    if (chosen == null) {
                        weighRuns((t - first) * group, (next - t) * group, stride, base, seenFrom, seenTo, tiles);
                    }
                    for (int s = t; s < next && chosen != null; s++) {
                        weighChosen(s, (s - first) * group, group, stride, base, seenFrom, seenTo, tiles);
                    }
                }
                t = next;
            }
        }
    }

    /// Has the kernel compute a page for the tokens of a block.
    private void page(StepContext c, int first, int end, int head, int page, int base, int thread) {
        Tiles tiles = c.tiles(thread);
        int group = op.headCount() / op.headCountKv();
        int[] runs = tiles.runs();
        int count = 0;
        for (int t = first; t < end; t++) {
            int from = seenFrom(c, t, base);
            int to = seenTo(c, t, base);
            int last = (count - 1) * AttentionKernel.RUN;
            if (from >= to) {
                continue;
            }
            if (count > 0 && runs[last + 2] == from && runs[last + 3] == to) {
                runs[last + 1] += group;
            } else {
                int at = count++ * AttentionKernel.RUN;
                runs[at] = (t - first) * group;
                runs[at + 1] = group;
                runs[at + 2] = from;
                runs[at + 3] = to;
            }
        }
        if (count > 0) {
            tiles.rows().runCount(count);
            kernel.attend(
                    cache.page(page),
                    cache.keysAt(op.layer(), head, op.keyLength()),
                    cache.valuesAt(op.layer(), head, op.valueLength()),
                    op.keyLength(),
                    op.valueLength(),
                    tiles.rows(),
                    c.scratch(thread).call().scratch);
        }
    }

    private void scores(int row, int rows, int from, int to, Tiles tiles) {
        float[] scores = tiles.softmax().scores();
        math.scores(tiles.q(), row, rows, op.keyLength(), tiles.keys(), scores);
        for (int r = row; r < row + rows && op.params().softCap() > 0; r++) {
            for (int p = from; p < to; p++) {
                int at = r * CpuKv.TOKENS + p;
                scores[at] = CpuElementwise.softCap(scores[at], op.params().softCap());
            }
        }
    }

    /// Adds what the distance says to the scores of a token.
    ///
    /// @param query the token's position, counted from the page's first
    /// @param head the first of its query heads
    /// @param row the row of that head
    private void addBias(int query, int head, int row, int from, int to, Tiles tiles) {
        ScoreBias scoreBias = op.params().scoreBias().orElseThrow();
        int group = op.headCount() / op.headCountKv();
        for (int g = 0; g < group; g++) {
            for (int p = from; p < to; p++) {
                tiles.softmax().scores()[(row + g) * CpuKv.TOKENS + p] +=
                        (float) scoreBias.at(head + g, p - query, op.params().causal(), bias);
            }
        }
    }

    /// Weighs the last positions of runs in a page; all of them without runs.
    private void weighRuns(int row, int rows, int stride, int base, int seenFrom, int seenTo, Tiles tiles) {
        if (run == 1) {
            weigh(row, rows, stride, seenFrom, seenTo, tiles);
            return;
        }
        int first = seenFrom + run - 1 - (base + seenFrom) % run;
        int last = first;
        for (int p = first; p < seenTo; p += run) {
            leaveOut(row, rows, last, p, tiles);
            last = p + 1;
        }
        if (first < seenTo) {
            weigh(row, rows, stride, first, last, tiles);
        }
    }

    /// Weighs the positions of a page that were chosen for a token.
    private void weighChosen(
            int token, int row, int rows, int stride, int base, int seenFrom, int seenTo, Tiles tiles) {
        int end = (token + 1) * chosen.width;
        int first = -1;
        int next = seenFrom;
        for (int i = token * chosen.width; i < end && chosen.data[i] != SelectPositions.NONE; i++) {
            int p = (int) chosen.data[i] - base;
            if (p < seenFrom || p >= seenTo) {
                continue;
            }
            first = first < 0 ? p : first;
            leaveOut(row, rows, next, p, tiles);
            next = p + 1;
        }
        if (first >= 0) {
            weigh(row, rows, stride, first, next, tiles);
        }
    }

    /// Makes scores nothing.
    private static void leaveOut(int row, int rows, int from, int to, Tiles tiles) {
        for (int r = row; r < row + rows; r++) {
            int at = r * CpuKv.TOKENS;
            Arrays.fill(tiles.softmax().scores(), at + from, at + to, Float.NEGATIVE_INFINITY);
        }
    }

    private void weigh(int row, int rows, int stride, int from, int to, Tiles tiles) {
        for (int r = row; r < row + rows; r++) {
            math.weigh(tiles.softmax(), r, from, to);
        }
        math.mix(tiles.softmax(), row, rows, stride, tiles.values(), from, to);
    }

    private int seenFrom(StepContext c, int token, int base) {
        return Math.max(firstSeen(c, token) - base, 0);
    }

    private int seenTo(StepContext c, int token, int base) {
        return Math.min(lastSeen(c, token) + 1 - base, CpuKv.TOKENS);
    }

    /// No token of a sequence sees an earlier position than one before it, or a later one than one after it.
    private int firstSeen(StepContext c, int token) {
        return op.params().spans() && !op.params().causal()
                ? c.input().spanStart(token)
                : op.params().firstSeen(c.input().position(token));
    }

    private int lastSeen(StepContext c, int token) {
        int position = c.input().position(token);
        if (op.params().spans()) {
            return c.input().spanEnd(token);
        }
        return op.params().causal()
                ? position
                : op.params().lastSeen(position, c.input().position(c.sequenceEnd(token) - 1));
    }

    /// Writes the rows of a block, divided by their sums of weights.
    private void store(int first, int end, int head, Tiles.State state) {
        int group = op.headCount() / op.headCountKv();
        int length = op.valueLength();
        int stride = AttentionMath.aligned(length);
        for (int t = first; t < end; t++) {
            for (int g = 0; g < group; g++) {
                int row = (t - first) * group + g;
                float factor = sinks.length == 0
                        ? 1 / state.sum()[row]
                        : (float) (1 / (state.sum()[row] + Math.exp(sinks[head * group + g] - state.max()[row])));
                int at = t * out.width + (head * group + g) * length;
                for (int i = 0; i < length; i++) {
                    out.data[at + i] = state.acc()[row * stride + i] * factor;
                }
            }
        }
    }
}
