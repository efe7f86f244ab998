package dev.tenon.models.deepseek;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;

/// The residual streams of DeepSeek V4 (hyper-connections, Zhu et al. 2024): a mixer reads a mixture of all of them,
/// and each becomes a mixture of all and of the mixer's result. Shares are made of the streams themselves.
final class HyperStreams {
    private static final int MOST = 16;
    private static final int MOST_ITERATIONS = 1000;

    private final DecoderBlocks d;
    private final GraphBuilder g;
    private final int count;
    private final int iterations;
    private final float eps;
    /// `[T, count * E]`.
    private Value all;
    /// What the last mixer's result is given by.
    private Value shares;

    /// Begins with the embeddings in all streams.
    ///
    /// @param x embeddings, `[T, E]`
    HyperStreams(DecoderBlocks d, ModelKeys keys, Value x) {
        this.d = d;
        this.g = d.graph();
        this.count = keys.integer("hyper_connection.count", 2, MOST);
        this.iterations = keys.integer("hyper_connection.sinkhorn_iterations", 1, MOST_ITERATIONS);
        this.eps = keys.number("hyper_connection.epsilon", 0, 1);
        this.all = x;
        for (int i = 1; i < count; i++) {
            all = g.join("hc_embd." + i, all, x, 1);
        }
    }

    /// {@return what a mixer reads, `[T, E]`}
    ///
    /// @param name prefix of the tensors, such as `blk.0.hc_attn`
    Value read(String name) {
        shares = shares(name, count * (count + 2), 3);
        return g.weightedSum(name + "_in", all, g.slice(name + "_pre", shares, 1, 0, count));
    }

    /// Mixes the streams with what the mixer made.
    ///
    /// @param name that of [#read]
    /// @param made `[T, E]`
    void write(String name, Value made) {
        Value more = g.join(name + "_all", all, made, 1);
        Value mixed = null;
        for (int i = 0; i < count; i++) {
            Value share = g.slice(name + "_post." + i, shares, 1, count + i * (count + 1), count + 1);
            Value stream = g.weightedSum(name + "_stream." + i, more, share);
            mixed = mixed == null ? stream : g.join(name + "_streams." + i, mixed, stream, 1);
        }
        all = mixed;
    }

    /// {@return the mixture that logits are made of, `[T, E]`}
    Value last() {
        return g.weightedSum("output_hc", all, shares("output_hc", count, 1));
    }

    private Value shares(String name, int width, int kinds) {
        Value logits = d.linear(
                name + "_fn", g.plainRmsNorm(name + "_unit", all, 1, d.config().rmsEps()), width);
        Value out = g.value(name + "_shares", width);
        Weight scale = Weight.vector(name + "_scale.weight", kinds);
        g.add(new HyperShares(logits, scale, Weight.vector(name + "_base.weight", width), count, iterations, eps, out));
        return out;
    }
}
