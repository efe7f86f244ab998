package dev.tenon.kernels.x86.linear.pairs;

import dev.tenon.api.error.BackendException;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.call.CodeMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// The functions of one format that multiply pairs of rows ([PairLoop], one for each number of
/// tokens) and quads of rows ([QuadLoop], one for each way of fetching), made when they are first
/// needed. All of them would take some 10 ms of a model's start.
///
/// Owns their memory. Safe for any thread.
public final class PairFunctions implements AutoCloseable {
    /// Where the functions for quads begin, by [QuadPrefetch#index]; before them are those for
    /// pairs, by tokens.
    private static final int QUADS = PairScratch.PAIRS_TOKENS + 1;

    /// A function, what prepares activations for it, and what takes its results away.
    ///
    /// @param spread spreads packed rows: [PairLoop#emitSpread]
    /// @param copy copies results: [PairLoop#emitCopy]
    /// @param product multiplies
    public record Functions(MemorySegment spread, MemorySegment copy, MemorySegment product) {}

    private final BlockCode format;
    private final PairMicroKernel pair;
    private final QuadMicroKernel quad;
    private final AtomicReferenceArray<Functions> made;
    private final List<CodeMemory> memories = new ArrayList<>();
    private boolean closed;

    /// Makes no functions yet.
    ///
    /// @param format the format
    /// @param pair how it multiplies pairs of rows
    /// @param quad how it multiplies four; null where it does not
    public PairFunctions(BlockCode format, PairMicroKernel pair, QuadMicroKernel quad) {
        this.format = format;
        this.pair = pair;
        this.quad = quad;
        this.made = new AtomicReferenceArray<>(QUADS + QuadPrefetch.INDICES);
    }

    /// {@return the functions for pairs of rows}
    ///
    /// @param tokens 2 to [PairScratch#PAIRS_TOKENS]
    /// @throws BackendException after [#close]
    public Functions pairs(int tokens) {
        return of(tokens);
    }

    /// {@return the functions for quads of rows, of a format that has them}
    ///
    /// @param ahead how the next quad is fetched: [QuadPrefetch#index]
    /// @throws BackendException after [#close]
    public Functions quads(int ahead) {
        return of(QUADS + ahead);
    }

    private Functions of(int which) {
        Functions known = made.get(which);
        return known != null ? known : make(which);
    }

    private synchronized Functions make(int which) {
        Functions known = made.get(which);
        if (known != null) {
            return known;
        }
        if (closed) {
            throw CodeMemory.closed(null);
        }
        Assembler a = new Assembler(true);
        PairLoop.emitSpread(a, format, pair);
        a.align(64);
        int copy = a.size();
        PairLoop.emitCopy(a);
        a.align(64);
        int product = a.size();
        if (which >= QUADS) {
            QuadLoop.emit(a, format, pair, quad, QuadPrefetch.of(which - QUADS));
        } else {
            PairLoop.emit(a, format, pair, which);
        }
        CodeMemory memory = new CodeMemory("pairs of " + format.id, a.assemble());
        memories.add(memory);
        Functions functions = new Functions(memory.entry(0), memory.entry(copy), memory.entry(product));
        made.set(which, functions);
        return functions;
    }

    @Override
    public synchronized void close() {
        closed = true;
        memories.forEach(CodeMemory::close);
    }
}
