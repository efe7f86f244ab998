package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/// Adds up what the kernels of a plan took, as the leading thread sees it: the barrier after a kernel
/// counts to the kernel. Reads the clock once a kernel. Used under the plan's lock.
final class KernelTimes {
    private final List<PlanReport.Kernel> kernels;
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
    /// @param kernels the plan's kernels
    /// @param graph what they compute
    /// @param tokenBytes bytes of a position in the plan's KV cache, over all layers
    KernelTimes(List<LoweredGraph.Entry> kernels, Graph graph, double tokenBytes) {
        int count = kernels.size();
        this.kernels = new ArrayList<>();
        this.weightBytes = new long[count];
        for (LoweredGraph.Entry entry : kernels) {
            weightBytes[this.kernels.size()] = entry.weightBytes();
            this.kernels.add(entry.report());
        }
        this.attention = new CoreOp.Attention[count];
        this.kvBytes = new double[count];
        this.counts = new long[count];
        this.nanos = new long[count];
        this.bytes = new double[count];
        long elements = 0;
        for (CoreOp.Attention op : graph.cacheLayers()) {
            elements += elements(op);
        }
        Iterator<CoreOp.Attention> ops = graph.ops().stream()
                .filter(CoreOp.Attention.class::isInstance)
                .map(CoreOp.Attention.class::cast)
                .iterator();
        for (int i = 0; i < count; i++) {
            if (this.kernels.get(i).op().equals("attention")) {
                attention[i] = ops.next();
                kvBytes[i] = tokenBytes * elements(attention[i]) / elements;
            }
        }
    }

    private static long elements(CoreOp.Attention a) {
        int values = a.params().valuesInKeys() ? 0 : a.valueLength();
        return (long) a.headCountKv() * (a.keyLength() + values);
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
    /// @param kernel index of the kernel that ended
    void endKernel(int kernel) {
        long now = System.nanoTime();
        nanos[kernel] += now - last;
        counts[kernel]++;
        last = now;
        int rows = kernels.get(kernel).op().equals("embedding") ? input.tokenCount() : 1;
        bytes[kernel] += weightBytes[kernel] * (double) rows;
        if (attention[kernel] != null) {
            bytes[kernel] += kvBytes[kernel] * positionsRead(attention[kernel].params());
        }
    }

    /// Positions of the cache that attention needs in this run, each once for its sequence.
    private long positionsRead(AttentionParams params) {
        long positions = 0;
        int end = input.tokenCount();
        for (int t = 0, first = 0; t < end; t++) {
            if (t + 1 == end || input.sequence(t + 1) != input.sequence(t)) {
                positions += input.position(t) + 1 - params.firstSeen(input.position(first));
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
            entries.add(new PlanProfile.Entry(kernels.get(i), counts[i], nanos[i], Math.round(bytes[i])));
        }
        return new PlanProfile(runs, tokens, total, entries);
    }
}
