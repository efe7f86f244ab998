package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Attention of each token to the positions that it sees, and to runs of positions, with one softmax over both
/// (DeepSeek-AI 2026).
///
/// Positions `run * c` to `run * c + run - 1` are run `c`. Its key and value stand in the row of its last token in
/// a layer of the KV cache of its own; the token itself sees it, and every later one. What the rows of other tokens
/// hold there is not read.
///
/// @param near attention to positions; its sinks count once
/// @param far attention to runs: the same queries, scale, heads and result, keys and values of runs
/// @param run positions of a run
/// @param positions `[T, count]`, last positions of the runs that a token attends to, of a [SelectPositions] with
///     the same runs; empty for all whole runs
public record RunAttention(CoreOp.Attention near, CoreOp.Attention far, int run, Optional<Value> positions)
        implements Op {
    /// Checks that both are parts of one attention.
    public RunAttention {
        AttentionParams same = far.params();
        boolean fits = near.params().causal()
                && same.causal()
                && !near.params().spans()
                && !same.spans()
                && near.q().equals(far.q())
                && near.out().equals(far.out())
                && near.layer() != far.layer()
                && near.headCount() == far.headCount()
                && near.headCountKv() == far.headCountKv()
                && near.params().scale() == same.scale()
                && same.softCap() == near.params().softCap()
                && same.sinks().isEmpty()
                && same.scoreBias().isEmpty()
                && same.slidingWindow() == 0
                && same.chunk() == 0;
        Shapes.check(
                fits, "run_attention", "joins " + near + " and " + far + ", which are not parts of one", near.out());
        Shapes.check(run >= 1, "run_attention", "has runs of " + run + "; expected 1 or more", near.out());
    }

    @Override
    public String kind() {
        return "run_attention";
    }

    @Override
    public List<Value> inputs() {
        return Stream.of(near.inputs().stream(), far.inputs().stream().skip(1), positions.stream())
                .flatMap(values -> values)
                .toList();
    }

    @Override
    public List<Value> outputs() {
        return near.outputs();
    }

    @Override
    public List<Weight> weights() {
        return near.weights();
    }
}
