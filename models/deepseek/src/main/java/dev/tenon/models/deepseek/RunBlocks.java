package dev.tenon.models.deepseek;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// The attention of DeepSeek V4: to the last positions, and to rows that are made of runs of tokens before them.
///
/// One row of a token is key and value of all heads. Its last elements are rotated by its position, and those of what
/// attention makes of values are rotated back. Runs of 4 overlap, and an index chooses among them.
final class RunBlocks {
    private static final int MAX_WIDTH = 1 << 24;
    /// Runs of so many positions overlap, and an index chooses among them.
    private static final int CHOSEN = 4;

    private final DecoderBlocks d;
    private final GraphBuilder g;
    private final ModelKeys keys;
    private final int heads;
    private final int length;
    private final int rotated;
    private final int queryRank;
    private final int window;
    private final int[] runs;
    private final int groups;
    private final int outputRank;
    private int cached;

    /// Reads the keys.
    RunBlocks(DecoderBlocks d, ModelKeys keys) {
        ModelConfig config = d.config();
        this.d = d;
        this.g = d.graph();
        this.keys = keys;
        this.heads = config.headCount();
        this.rotated = config.ropeDim();
        this.length = keys.integer("attention.key_length", rotated, MAX_WIDTH / heads);
        keys.integer("attention.value_length", length, length);
        keys.perLayer("attention.head_count_kv", config.blockCount(), 1, 1);
        this.queryRank = keys.integer("attention.q_lora_rank", 1, MAX_WIDTH);
        this.window = keys.integer("attention.sliding_window", 1, Integer.MAX_VALUE);
        this.runs = keys.perLayer("attention.compress_ratios", config.blockCount(), 0, 1 << 16);
        this.groups = keys.integer("attention.output_group_count", 1, heads);
        if (heads % groups != 0) {
            throw keys.impossible("attention.output_group_count", groups, "a divisor of " + heads + " heads");
        }
        this.outputRank = keys.integer("attention.output_lora_rank", 1, MAX_WIDTH / groups);
    }

    /// {@return the projected result of a layer, `[T, E]`}
    ///
    /// @param layer which one
    /// @param x its normed input, `[T, E]`
    Value of(int layer, Value x) {
        String blk = "blk." + layer + ".";
        int run = runs[layer];
        RopeParams rope = rope(run);
        Value compressed = d.rmsNorm(blk + "attn_q_a_norm", d.linear(blk + "attn_q_a", x, queryRank));
        Value q = d.linear(blk + "attn_q_b", compressed, heads * length); //                          [T, H * D]
        q = turned(
                blk + "q", g.plainRmsNorm(blk + "q_unit", q, heads, d.config().rmsEps()), heads, rope);
        Value k = turned(blk + "k", d.rmsNorm(blk + "attn_kv_a_norm", d.linear(blk + "attn_kv", x, length)), 1, rope);

        AttentionParams far = AttentionParams.builder(heads, 1, (float) (1 / Math.sqrt(length)))
                .valuesInKeys(true)
                .build();
        AttentionParams near = far.toBuilder()
                .slidingWindow(window)
                .sinks(Optional.of(Weight.vector(blk + "attn_sinks.weight", heads)))
                .build();
        Value attended = g.value(blk + "attn", heads * length);
        CoreOp.Attention last = new CoreOp.Attention(q, k, k, cached++, near, attended);
        if (run == 0) {
            g.add(last);
        } else {
            Value rows = runs(blk + "attn_compressor", x, length, run, rope);
            CoreOp.Attention before = new CoreOp.Attention(q, rows, rows, cached++, far, attended);
            Optional<Value> positions =
                    run == CHOSEN ? Optional.of(positions(blk, x, compressed, run, rope)) : Optional.empty();
            g.add(new RunAttention(last, before, run, positions));
        }
        RopeParams back = rope.toBuilder().freqScale(-rope.freqScale()).build();
        attended = turned(blk + "attn_back", attended, heads, back); //                               [T, H * D]
        Weight first = new Weight(blk + "attn_output_a.weight", heads * length / groups, outputRank, groups);
        Value low = g.headLinear(blk + "attn_low", attended, first); //                               [T, Q * U]
        return d.linear(blk + "attn_output_b", low, x.width()); //                                    [T, E]
    }

    /// Windows alone are never scaled.
    private RopeParams rope(int run) {
        ModelConfig.Builder part = d.config().toBuilder().keyLength(rotated);
        if (run == 0) {
            return RopeKeys.plain(
                            keys, part.build(), Pairing.INTERLEAVED, d.config().ropeFreqBase())
                    .build();
        }
        float base = keys.number("attention.compress_rope_freq_base", 1, 1e12);
        return RopeKeys.read(keys, part.ropeFreqBase(base).build(), Pairing.INTERLEAVED)
                .attentionFactor(1)
                .build();
    }

    /// Rotates the last elements of heads.
    private Value turned(String name, Value x, int count, RopeParams rope) {
        int plain = x.width() / count - rotated;
        if (plain == 0) {
            return g.rope(name, x, rope);
        }
        Value part = g.rope(name + "_rope", g.slice(name + "_pe", x, count, plain, rotated), rope);
        return g.join(name, g.slice(name + "_nope", x, count, 0, plain), part, count);
    }

    /// {@return a row for each run, at its last token, `[T, width]`}
    private Value runs(String name, Value x, int width, int run, RopeParams rope) {
        int wide = run == CHOSEN ? 2 * width : width;
        Value values = d.linear(name + "_kv", x, wide);
        Value scores = d.linear(name + "_gate", x, wide);
        Value means = g.value(name, width);
        g.add(new RecurrentOp.RunMean(values, scores, new Weight(name + "_ape.weight", wide, run), means));
        Value normed = d.rmsNorm(name + "_norm", means);
        return turned(name + "_k", normed, 1, rope.toBuilder().run(run).build());
    }

    /// {@return the runs that a token attends to}
    private Value positions(String blk, Value x, Value compressed, int run, RopeParams rope) {
        int count = keys.integer("attention.indexer.head_count", 1, 1 << 10);
        int width = keys.integer("attention.indexer.key_length", rotated, MAX_WIDTH / count);
        Value k = runs(blk + "indexer_compressor", x, width, run, rope);
        Value q = turned(blk + "indexer.q", d.linear(blk + "indexer.attn_q_b", compressed, count * width), count, rope);
        Value shares = g.scale(blk + "indexer.shares", d.linear(blk + "indexer.proj", x, count), (float)
                (1 / Math.sqrt((double) count * width)));
        Value out = g.value(blk + "positions", keys.integer("attention.indexer.top_k", 1, MAX_WIDTH));
        g.add(new SelectPositions(q, shares, k, cached++, run, out));
        return out;
    }
}
