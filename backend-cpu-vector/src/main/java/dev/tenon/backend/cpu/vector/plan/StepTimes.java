package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.CoreOp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Adds up what the kernels of a plan took, as the leading thread sees it: the barrier behind a kernel
/// counts to the kernel. Reads the clock once a kernel. Used under the plan's lock.
final class StepTimes {
    private final List<PlanReport.Step> steps;
    private final long[] weightBytes;
    private final CoreOp.Attention[] attention;
    private final double[] kvBytes;
    private final long[] counts;
    private final long[] nanos;
    private final double[] bytes;
    private long runs;
    private long tokens;
    private long total;
    private long began;
    private long last;
    private StepInput input;

    /// Creates a profile of zeros.
    ///
    /// @param steps the plan's kernels
    /// @param weightBytes weight bytes that each of them reads to decode one token
    /// @param layers attention ops, in the order of the kernels that run them
    /// @param pages the plan's KV cache
    StepTimes(List<PlanReport.Step> steps, List<Long> weightBytes, List<CoreOp.Attention> layers, KvPages pages) {
        int count = steps.size();
        this.steps = steps;
        this.weightBytes = weightBytes.stream().mapToLong(Long::longValue).toArray();
        this.attention = new CoreOp.Attention[count];
        this.kvBytes = new double[count];
        this.counts = new long[count];
        this.nanos = new long[count];
        this.bytes = new double[count];
        long elements = layers.stream().mapToLong(StepTimes::elements).sum();
        int layer = 0;
        for (int i = 0; i < count; i++) {
            if (steps.get(i).op().equals("attention")) {
                attention[i] = layers.get(layer++);
                kvBytes[i] = (double) pages.pageBytes() / pages.tokensPerPage() * elements(attention[i]) / elements;
            }
        }
    }

    private static long elements(CoreOp.Attention a) {
        return (long) a.headCountKv() * (a.keyLength() + a.valueLength());
    }

    /// Begins a run.
    ///
    /// @param newInput its batch
    void begin(StepInput newInput) {
        input = newInput;
        began = System.nanoTime();
    }

    /// Begins the first kernel of a run.
    void firstKernel() {
        last = System.nanoTime();
    }

    /// Ends a kernel, and begins the next.
    ///
    /// @param step index of the kernel that ended
    void endKernel(int step) {
        long now = System.nanoTime();
        nanos[step] += now - last;
        counts[step]++;
        last = now;
        int rows = steps.get(step).op().equals("embedding") ? input.tokenCount() : 1;
        bytes[step] += weightBytes[step] * (double) rows;
        if (attention[step] != null) {
            bytes[step] += kvBytes[step] * positionsRead(attention[step].slidingWindow());
        }
    }

    /// Positions of the cache that attention needs in this run, each once for its sequence.
    private long positionsRead(int window) {
        long positions = 0;
        int end = input.tokenCount();
        for (int t = 0, first = 0; t < end; t++) {
            if (t + 1 == end || input.sequence(t + 1) != input.sequence(t)) {
                int unseen = window > 0 ? Math.max(input.position(first) - window + 1, 0) : 0;
                positions += input.position(t) + 1 - unseen;
                first = t + 1;
            }
        }
        return positions;
    }

    /// Ends a run that did not fail.
    void end() {
        total += System.nanoTime() - began;
        runs++;
        tokens += input.tokenCount();
        input = null;
    }

    /// Sets everything to zero.
    void clear() {
        Arrays.fill(counts, 0);
        Arrays.fill(nanos, 0);
        Arrays.fill(bytes, 0);
        runs = 0;
        tokens = 0;
        total = 0;
    }

    /// {@return what was added up}
    PlanProfile profile() {
        List<PlanProfile.Entry> entries = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            entries.add(new PlanProfile.Entry(steps.get(i), counts[i], nanos[i], Math.round(bytes[i])));
        }
        return new PlanProfile(runs, tokens, total, entries);
    }
}
