package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.SelectPositions;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.util.Arrays;

/// Appends keys to their layer, then keeps the positions with the highest scores of each token, page by page. Threads
/// take blocks of tokens.
///
/// @param op the op
/// @param q `[T, heads * keyLength]`
/// @param shares `[T, heads]`
/// @param appended keys of the step
/// @param cache the pages
/// @param math loads keys
/// @param out `[T, count]`; while a token's positions are searched for, a heap of them, the worst first
public record CpuSelectPositions(
        SelectPositions op,
        Activations q,
        Activations shares,
        CpuKv.Appended appended,
        CpuKv cache,
        AttentionMath math,
        Activations out)
        implements CpuKernel {
    /// {@return floats that a thread needs: the scores of the positions that are kept for each token of a block, and
    ///     two rows of a page}
    ///
    /// @param op the op
    public static int floats(SelectPositions op) {
        return Math.addExact(Math.multiplyExact(StepContext.BLOCK_TOKENS, op.count()), 2 * CpuKv.TOKENS);
    }

    @Override
    public int phases(StepContext c) {
        return 2;
    }

    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        for (int i = c.claim(1); i < c.blockCount(); i = c.claim(1)) {
            if (phase == 0) {
                CpuAttention.append(c, i, 0, appended, cache, c.tiles(thread));
            } else {
                // The last blocks see the most.
                select(
                        c,
                        c.blockCount() - 1 - i,
                        c.tiles(thread),
                        c.scratch(thread).floats());
            }
        }
    }

    private void select(StepContext c, int block, Tiles tiles, float[] best) {
        int first = c.blockStart(block);
        int end = c.blockStart(block + 1);
        int[] table = c.input().pageTable(c.input().sequence(first));
        for (int base = 0; base <= c.input().position(end - 1); base += CpuKv.TOKENS) {
            int from = op.run() - 1 - base % op.run();
            if (from >= CpuKv.TOKENS) {
                continue;
            }
            cache.loadKeys(op.layer(), table[base / CpuKv.TOKENS], 0, op.k().width(), tiles, math);
            for (int t = first; t < end; t++) {
                int seen = Math.min(c.input().position(t) + 1 - base, CpuKv.TOKENS);
                if (seen > from) {
                    int scores = scores(t, tiles.keys(), best);
                    for (int p = from; p < seen; p += op.run()) {
                        offer(t, (t - first) * op.count(), base + p, best[scores + p], best);
                    }
                }
            }
        }
        for (int t = first; t < end; t++) {
            int from = t * out.width;
            int count = Math.min(op.count(), (c.input().position(t) + 1) / op.run());
            Arrays.sort(out.data, from, from + count);
            Arrays.fill(out.data, from + count, from + op.count(), SelectPositions.NONE);
        }
    }

    /// Scores all positions of a page.
    ///
    /// @return where they stand in the thread's memory
    private int scores(int t, float[] keys, float[] memory) {
        int length = op.k().width();
        int scores = StepContext.BLOCK_TOKENS * op.count();
        int dots = scores + CpuKv.TOKENS;
        Arrays.fill(memory, scores, dots, 0);
        for (int j = 0; j < op.heads(); j++) {
            Arrays.fill(memory, dots, dots + CpuKv.TOKENS, 0);
            for (int i = 0; i < length; i++) {
                addTo(memory, dots, keys, i * CpuKv.TOKENS, q.data[t * q.width + j * length + i]);
            }
            float share = shares.data[t * shares.width + j];
            for (int p = 0; p < CpuKv.TOKENS; p++) {
                memory[scores + p] = Math.fma(share, Math.max(0, memory[dots + p]), memory[scores + p]);
            }
        }
        return scores;
    }

    private static void addTo(float[] sum, int to, float[] x, int from, float factor) {
        for (int p = 0; p < CpuKv.TOKENS; p++) {
            sum[to + p] = Math.fma(x[from + p], factor, sum[to + p]);
        }
    }

    /// Keeps a position if it is better than the worst of those that a full heap has. Positions come in ascending
    /// order, so that one as good as the worst is not kept.
    ///
    /// @param heap where the scores of the token's heap begin
    private void offer(int t, int heap, int position, float score, float[] best) {
        int count = op.count();
        int from = t * out.width;
        if (position / op.run() < count) {
            int i = position / op.run();
            while (i > 0 && isWorse(score, position, best[heap + (i - 1) / 2], out.data[from + (i - 1) / 2])) {
                best[heap + i] = best[heap + (i - 1) / 2];
                out.data[from + i] = out.data[from + (i - 1) / 2];
                i = (i - 1) / 2;
            }
            best[heap + i] = score;
            out.data[from + i] = position;
        } else if (score > best[heap]) {
            sink(heap, from, score, position, best);
        }
    }

    /// Puts a position in place of the worst.
    private void sink(int heap, int from, float score, int position, float[] best) {
        int i = 0;
        while (2 * i + 1 < op.count()) {
            int child = 2 * i + 1;
            if (child + 1 < op.count()
                    && isWorse(
                            best[heap + child + 1],
                            out.data[from + child + 1],
                            best[heap + child],
                            out.data[from + child])) {
                child++;
            }
            if (!isWorse(best[heap + child], out.data[from + child], score, position)) {
                break;
            }
            best[heap + i] = best[heap + child];
            out.data[from + i] = out.data[from + child];
            i = child;
        }
        best[heap + i] = score;
        out.data[from + i] = position;
    }

    /// {@return whether one goes before another: it has the lower score, or the same one at a later position}
    private static boolean isWorse(float score, float position, float other, float otherPosition) {
        return score < other || score == other && position > otherPosition;
    }
}
