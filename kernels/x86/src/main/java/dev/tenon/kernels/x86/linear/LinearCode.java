package dev.tenon.kernels.x86.linear;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.StreamMicroKernel;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.pairs.PairFunctions;
import dev.tenon.kernels.x86.linear.panels.F16PanelLoop;
import dev.tenon.kernels.x86.linear.panels.PanelFunctions;
import dev.tenon.kernels.x86.linear.panels.UnpackCode;
import dev.tenon.kernels.x86.linear.rows.F16RowLoop;
import dev.tenon.kernels.x86.linear.rows.RowLoop;
import dev.tenon.kernels.x86.linear.rows.RowLoop256;
import dev.tenon.kernels.x86.linear.rows.RowLoop512;
import dev.tenon.kernels.x86.linear.rows.StreamLoop;
import dev.tenon.kernels.x86.pack.PackCode;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/// The machine code of one format for one feature set: executable memory and the places of its
/// functions.
///
/// Owns the memory; after [#close] every call fails.
final class LinearCode implements AutoCloseable {
    private final CodeMemory memory;
    /// Quantises a row of activations: [PackCode]; null for floats.
    final MemorySegment pack;
    /// Rows times t + 1 tokens: [RowLoop512], [RowLoop256] or [F16RowLoop].
    final MemorySegment[] rows;
    /// Four streams of rows times one token; null for floats and without AVX-512: [RowLoop512].
    final MemorySegment streams;
    /// Pairs and quads of rows times some tokens; null where there are none.
    final PairFunctions pairs;
    /// Unpacks rows to a panel; null for floats: [UnpackCode].
    final MemorySegment unpack;
    /// A panel times many and few tokens ([PanelShape]): `PanelLoop`; null for floats.
    final PanelFunctions panels;
    /// Rows of floats times six tokens: [F16PanelLoop]; null for the other formats.
    final MemorySegment f16Panel;

    private LinearCode(CodeMemory memory, Map<String, Integer> at, PairFunctions pairs, PanelFunctions panels) {
        this.memory = memory;
        this.pairs = pairs;
        this.panels = panels;
        this.pack = entry(at, "pack");
        this.rows = new MemorySegment[RowLoop.MAX_TOKENS];
        for (int t = 0; t < rows.length; t++) {
            rows[t] = entry(at, "rows" + (t + 1));
        }
        this.streams = entry(at, "streams");
        this.unpack = entry(at, "unpack");
        this.f16Panel = entry(at, "f16Panel");
    }

    private MemorySegment entry(Map<String, Integer> at, String function) {
        Integer offset = at.get(function);
        return offset == null ? null : memory.entry(offset);
    }

    /// Generates the code of a format.
    ///
    /// @param format the format
    /// @param set which instructions may be used
    /// @return the code, owned by the caller
    static LinearCode generate(BlockCode format, FeatureSet set) {
        boolean wide = set.wide;
        Assembler a = new Assembler(wide, set == FeatureSet.AVX512_VBMI);
        Map<String, Integer> at = new LinkedHashMap<>();
        begin(a, at, "pack");
        PackCode.emit(a, format);
        for (int t = 1; t <= RowLoop.MAX_TOKENS; t++) {
            begin(a, at, "rows" + t);
            if (wide) {
                RowLoop512.emit(a, format, t);
            } else {
                RowLoop256.emit(a, format, t, set == FeatureSet.AVX_VNNI);
            }
        }
        if (wide) {
            begin(a, at, "streams");
            StreamMicroKernel four = format.streams512();
            if (four != null) {
                StreamLoop.emit(a, format, four);
            } else {
                RowLoop512.emitStreams(a, format);
            }
        }
        begin(a, at, "unpack");
        UnpackCode.emit(a, format, PanelShape.of(set));
        PairMicroKernel pair = wide ? format.pairs512() : null;
        PairFunctions pairs = pair == null ? null : new PairFunctions(format, pair, format.quads512());
        return new LinearCode(new CodeMemory(format.id, a.assemble()), at, pairs, new PanelFunctions(format, set));
    }

    /// Generates the code of a format of plain floating-point numbers.
    ///
    /// @param bfloat whether they are BF16 rather than F16
    /// @param set which instructions may be used
    /// @return the code, owned by the caller
    static LinearCode generateFloats(boolean bfloat, FeatureSet set) {
        boolean wide = set.wide;
        Assembler a = new Assembler(wide);
        Map<String, Integer> at = new LinkedHashMap<>();
        for (int t = 1; t <= RowLoop.MAX_TOKENS; t++) {
            begin(a, at, "rows" + t);
            F16RowLoop.emit(a, bfloat, t);
        }
        begin(a, at, "f16Panel");
        F16PanelLoop.emit(a, bfloat);
        return new LinearCode(new CodeMemory(bfloat ? "BF16" : "F16", a.assemble()), at, null, null);
    }

    private static void begin(Assembler a, Map<String, Integer> at, String function) {
        a.align(64);
        at.put(function, a.size());
    }

    @Override
    public void close() {
        memory.close();
        if (pairs != null) {
            pairs.close();
        }
        if (panels != null) {
            panels.close();
        }
    }
}
