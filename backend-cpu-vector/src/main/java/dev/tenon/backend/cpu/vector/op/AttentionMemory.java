package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kv.AttentionSplit;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.ToIntFunction;

/// Sizes attention's memory for the largest layer of a plan.
public final class AttentionMemory {
    /// Gives arrays that are counted.
    public interface Source {
        /// {@return an array}
        ///
        /// @param length elements
        /// @param purpose what reports call it
        float[] floats(long length, String purpose);
    }

    private AttentionMemory() {}

    /// {@return a thread's memory}
    ///
    /// @param layers attention ops of the plan
    /// @param source gives the arrays
    public static Tiles tiles(List<CoreOp.Attention> layers, Source source) {
        int rows = most(layers, AttentionStep::rows);
        int keyLength = most(layers, CoreOp.Attention::keyLength);
        int stride = AttentionMath.aligned(most(layers, CoreOp.Attention::valueLength));
        int elements = Math.multiplyExact(CpuKv.TOKENS, Math.max(keyLength, stride));
        float[] q = source.floats((long) rows * keyLength, "scratch");
        Tiles.State segment = state(rows, stride, source);
        int[] runs = new int[StepContext.BLOCK_TOKENS * AttentionKernel.RUN];
        return new Tiles(
                q,
                source.floats((long) CpuKv.TOKENS * keyLength, "scratch"),
                source.floats((long) CpuKv.TOKENS * stride, "scratch"),
                source.floats((long) rows * CpuKv.TOKENS + AttentionMath.SPARE, "scratch"),
                source.floats(rows, "scratch"),
                segment,
                state(rows, stride, source),
                new short[elements],
                new byte[Math.addExact(elements, AttentionMath.LEVEL_SPARE)],
                source.floats(elements / CpuKv.BLOCK, "scratch"),
                runs,
                new AttentionRows(q, segment.max(), segment.sum(), segment.acc(), runs));
    }

    /// {@return the memory that threads share when they split a context}
    ///
    /// @param layers attention ops of the plan
    /// @param pages pages of the cache
    /// @param source gives the arrays
    public static AttentionSplit split(List<CoreOp.Attention> layers, int pages, Source source) {
        int rows = Math.multiplyExact(AttentionStep.segments(pages), most(layers, CoreOp.Attention::headCount));
        int stride = AttentionMath.aligned(most(layers, CoreOp.Attention::valueLength));
        return new AttentionSplit(
                state(rows, stride, source), new AtomicIntegerArray(most(layers, CoreOp.Attention::headCountKv)));
    }

    private static Tiles.State state(int rows, int stride, Source source) {
        return new Tiles.State(
                source.floats(rows, "scratch"),
                source.floats(rows, "scratch"),
                source.floats((long) rows * stride, "scratch"));
    }

    private static int most(List<CoreOp.Attention> layers, ToIntFunction<CoreOp.Attention> of) {
        return layers.stream().mapToInt(of).max().orElse(0);
    }
}
