package dev.tenon.kernels.x86.linear.panels;

import dev.tenon.api.error.BackendException;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The panel functions of one format for one feature set, made for each length of rows when it is
/// first met: [PanelLoop].
///
/// Owns their memory. Safe for any thread; a length that was met before costs a search of a short
/// array.
public final class PanelFunctions implements AutoCloseable {
    /// The functions of one length.
    ///
    /// @param n elements in a row
    /// @param many for the shape's `many` tokens
    /// @param few for its `few`
    public record Length(int n, MemorySegment many, MemorySegment few) {}

    private final BlockCode format;
    private final FeatureSet set;
    private final List<CodeMemory> memories = new ArrayList<>();
    private volatile Length[] lengths = {};
    private boolean closed;

    /// Makes no functions yet.
    ///
    /// @param format the format
    /// @param set which instructions may be used
    public PanelFunctions(BlockCode format, FeatureSet set) {
        this.format = format;
        this.set = set;
    }

    /// {@return the functions for rows of a length}
    ///
    /// @param n elements in a row
    /// @throws BackendException after [#close]
    public Length of(int n) {
        Length known = find(n);
        return known != null ? known : make(n);
    }

    private Length find(int n) {
        for (Length length : lengths) {
            if (length.n == n) {
                return length;
            }
        }
        return null;
    }

    private synchronized Length make(int n) {
        Length known = find(n);
        if (known != null) {
            return known;
        }
        if (closed) {
            throw CodeMemory.closed(null);
        }
        Assembler a = new Assembler(set.wide);
        PanelShape shape = PanelShape.of(set);
        PanelLoop.emit(a, format, set, shape.many(), n);
        a.align(64);
        int few = a.size();
        PanelLoop.emit(a, format, set, shape.few(), n);
        CodeMemory memory = new CodeMemory("panels of " + format.id, a.assemble());
        memories.add(memory);
        Length made = new Length(n, memory.entry(0), memory.entry(few));
        Length[] more = Arrays.copyOf(lengths, lengths.length + 1);
        more[lengths.length] = made;
        lengths = more;
        return made;
    }

    /// Frees the functions after running calls have returned.
    @Override
    public synchronized void close() {
        closed = true;
        memories.forEach(CodeMemory::close);
    }
}
