package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import java.lang.foreign.MemorySegment;

/// Memory for the activation rows that a [LinearKernel] packs for experts, the rows of each expert together;
/// shared by all matrices of a plan with the same kernel and row length.
final class PackedGroups {
    /// Pairs of a step up to which no view is made: the memory is cut into powers of two of rows in advance.
    private static final int FEW_PAIRS = 512;

    final LinearKernel kernel;
    final int n;
    private MemorySegment memory;
    private MemorySegment[] views;
    /// For each power of two, places for so many rows, one after the other.
    private MemorySegment[][] places;
    private int fewPairs;
    private MemorySegment[][] own;

    /// Creates the holder without memory.
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    PackedGroups(LinearKernel kernel, int n) {
        this.kernel = kernel;
        this.n = n;
    }

    /// Takes memory.
    ///
    /// @param plan gives it
    /// @param experts most experts
    /// @param used most experts of a token
    /// @param maxTokens most tokens of a step
    /// @param threads number of threads
    void use(PlanMemory plan, int experts, int used, int maxTokens, int threads) {
        fewPairs = Math.min(FEW_PAIRS, Math.multiplyExact(maxTokens, used));
        int sizes = size(Math.min(fewPairs, maxTokens)) + 1;
        long row = placeBytes(sizes);
        long bytes = Math.max(bytes(experts, used, maxTokens), 2 * fewPairs * row);
        memory = plan.segment(bytes, "packed activations of experts");
        places = new MemorySegment[sizes][];
        for (int size = 0; size < sizes; size++) {
            places[size] = new MemorySegment[2 * fewPairs >> size];
            for (int i = 0; i < places[size].length; i++) {
                places[size][i] = memory.asSlice((row << size) * i, kernel.packedBytes(n, 1 << size));
            }
        }
        views = new MemorySegment[experts];
        own = new MemorySegment[threads][used];
        long alone = kernel.packedBytes(n);
        for (MemorySegment[] rows : own) {
            MemorySegment all = plan.segment(alone * used, "packed activations of experts");
            for (int k = 0; k < used; k++) {
                rows[k] = all.asSlice(k * alone, alone);
            }
        }
    }

    /// Bytes that suffice however tokens choose: a kernel may need more for some rows than for each alone.
    private long bytes(int experts, int used, int maxTokens) {
        long pairs = (long) maxTokens * used;
        long each = Math.ceilDiv(kernel.packedBytes(n, maxTokens), maxTokens);
        long more = 0;
        for (int tokens = 1; tokens <= maxTokens; tokens++) {
            more = Math.max(more, kernel.packedBytes(n, tokens) - tokens * each);
        }
        return Math.ceilDiv(Math.addExact(pairs * each, Math.min(experts, pairs) * more), 64) * 64;
    }

    /// {@return bytes of a row, in memory that is cut into powers of two of rows}
    private long placeBytes(int sizes) {
        long most = 0;
        for (int size = 0; size < sizes; size++) {
            most = Math.max(most, Math.ceilDiv(kernel.packedBytes(n, 1 << size), 1 << size));
        }
        return Math.ceilDiv(most, 64) * 64;
    }

    /// {@return the least power of two of rows that holds some, as its exponent}
    private static int size(int rows) {
        return 32 - Integer.numberOfLeadingZeros(rows - 1);
    }

    /// Gives each expert that has tokens its part of the memory.
    ///
    /// @param groups tokens by expert
    void layOut(ExpertGroups groups) {
        if (groups.pairCount() <= fewPairs) {
            layOutFew(groups);
            return;
        }
        long at = 0;
        for (int i = 0; i < groups.activeCount(); i++) {
            int expert = groups.active(i);
            long bytes = kernel.packedBytes(n, groups.count(expert));
            MemorySegment last = views[expert];
            if (last == null || last.byteSize() != bytes || last.address() != memory.address() + at) {
                views[expert] = memory.asSlice(at, bytes);
            }
            at += bytes;
        }
    }

    /// The experts with the most tokens first: so each begins at a multiple of its size.
    private void layOutFew(ExpertGroups groups) {
        int row = 0;
        for (int size = places.length - 1; size >= 0; size--) {
            for (int i = 0; i < groups.activeCount(); i++) {
                int expert = groups.active(i);
                if (size(groups.count(expert)) == size) {
                    views[expert] = places[size][row >> size];
                    row += 1 << size;
                }
            }
        }
    }

    /// Packs a row of an expert.
    ///
    /// @param x activations
    /// @param at where the row begins
    /// @param expert which
    /// @param index which of its rows
    void pack(Activations x, int at, int expert, int index) {
        kernel.pack(x.floats, at, n, views[expert], index);
    }

    /// {@return the packed rows of an expert}
    ///
    /// @param expert which
    MemorySegment rows(int expert) {
        return views[expert];
    }

    /// Packs a row of the step's only token, for a single thread.
    ///
    /// @param x activations
    /// @param at where the row begins
    /// @param thread index of the thread
    /// @param k which row
    void packOwn(Activations x, int at, int thread, int k) {
        kernel.pack(x.floats, at, n, own[thread][k]);
    }

    /// {@return a row that a thread has packed}
    ///
    /// @param thread index of the thread
    /// @param k which row
    MemorySegment own(int thread, int k) {
        return own[thread][k];
    }
}
