package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.attention.SoftmaxRows;
import dev.tenon.backend.cpu.vector.kv.AttentionSplit;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.ToIntFunction;

/// Sizes attention's memory for the largest layer of a plan.
public final class AttentionMemory {
    private AttentionMemory() {}

    /// {@return a thread's memory}
    ///
    /// @param layers attention ops of the plan
    /// @param memory gives the arrays
    public static Tiles tiles(List<CoreOp.Attention> layers, PlanMemory memory) {
        int rows = most(layers, CpuAttention::rows);
        int keyLength = most(layers, CoreOp.Attention::keyLength);
        int stride = AttentionMath.aligned(most(layers, CoreOp.Attention::valueLength));
        int elements = Math.multiplyExact(CpuKv.TOKENS, Math.max(keyLength, stride));
        float[] q = memory.floats((long) rows * keyLength, "scratch");
        float[] scores = memory.floats((long) rows * CpuKv.TOKENS + AttentionMath.SPARE, "scratch");
        Tiles.State segment = state(rows, stride, memory);
        int[] runs = new int[StepContext.BLOCK_TOKENS * AttentionKernel.RUN];
        return new Tiles(
                q,
                memory.floats((long) CpuKv.TOKENS * keyLength, "scratch"),
                memory.floats((long) CpuKv.TOKENS * stride, "scratch"),
                new SoftmaxRows(scores, segment.max(), segment.sum(), memory.floats(rows, "scratch"), segment.acc()),
                segment,
                state(rows, stride, memory),
                new short[elements],
                new byte[Math.addExact(elements, AttentionMath.LEVEL_SPARE)],
                memory.floats(elements / CpuKv.BLOCK, "scratch"),
                runs,
                new AttentionRows(q, segment.max(), segment.sum(), segment.acc(), runs));
    }

    /// {@return the memory that threads share when they split a context}
    ///
    /// @param layers attention ops of the plan
    /// @param pages pages of the cache
    /// @param memory gives the arrays
    public static AttentionSplit split(List<CoreOp.Attention> layers, int pages, PlanMemory memory) {
        int rows = Math.multiplyExact(CpuAttention.segments(pages), most(layers, CoreOp.Attention::headCount));
        int stride = AttentionMath.aligned(most(layers, CoreOp.Attention::valueLength));
        return new AttentionSplit(
                state(rows, stride, memory), new AtomicIntegerArray(most(layers, CoreOp.Attention::headCountKv)));
    }

    private static Tiles.State state(int rows, int stride, PlanMemory memory) {
        return new Tiles.State(
                memory.floats(rows, "scratch"),
                memory.floats(rows, "scratch"),
                memory.floats((long) rows * stride, "scratch"));
    }

    private static int most(List<CoreOp.Attention> layers, ToIntFunction<CoreOp.Attention> of) {
        return layers.stream().mapToInt(of).max().orElse(0);
    }
}
