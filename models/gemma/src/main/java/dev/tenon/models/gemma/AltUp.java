package dev.tenon.models.gemma;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;

/// The residual streams of Gemma 3n (alternating updates, Baykal et al. 2023).
///
/// A layer computes on the first stream alone. Before it, each stream is moved by a mixture of all; after it, by what
/// the layer changed. A small router, which reads the first stream, gives the shares of both.
final class AltUp {
    /// So small that no row of numbers is changed by it, but that of zeros.
    static final float TINY = 1e-30f;

    private static final int MOST = 64;
    private static final String ACTIVE = "altup.active_idx";

    private final DecoderBlocks d;
    private final GraphBuilder g;
    private final Value[] streams;

    /// Begins with the embeddings, and products of them of the same length.
    ///
    /// @param x scaled embeddings, `[T, E]`
    AltUp(DecoderBlocks d, ModelKeys keys, Value x) {
        this.d = d;
        this.g = d.graph();
        int active = keys.integerOr(ACTIVE, 0, 0, MOST);
        if (active != 0) {
            throw keys.unsupported(ACTIVE, active, "0, layers that work on the first stream");
        }
        streams = new Value[keys.integer("altup.num_inputs", 2, MOST)];
        Value all = x;
        for (int i = 2; i < streams.length; i++) {
            all = g.join("altup_copies." + i, all, x, 1);
        }
        streams[0] = x;
        System.arraycopy(products("altup_proj", all, x), 0, streams, 1, streams.length - 1);
    }

    /// {@return what the matrices of a tensor make of the other streams, each as long as the first, `[T, E]` each}
    private Value[] products(String name, Value others, Value first) {
        int e = first.width();
        int count = streams.length - 1;
        Value product = g.headLinear(name, others, new Weight(name + ".weight", e, e, count));
        Value unit = g.plainRmsNorm(name + "_unit", product, count, TINY);
        Value length = rootMeanSquare(g, name + "_length", first);
        Value[] parts = new Value[count];
        for (int i = 0; i < count; i++) {
            Value part = g.slice(name + "_unit." + i, unit, 1, i * e, e);
            parts[i] = g.multiply(name + "." + i, part, length);
        }
        return parts;
    }

    /// {@return the root of the mean square of each row, for each element, `[T, width]`}
    static Value rootMeanSquare(GraphBuilder g, String name, Value x) {
        return g.groupMean(name, g.multiply(name + "_squares", x, g.plainRmsNorm(name + "_unit", x, 1, TINY)), 1);
    }

    /// Moves the streams by their mixture.
    ///
    /// @return the first of them, `[T, E]`
    Value predict(String blk) {
        int count = streams.length;
        Value shares = d.linear(blk + "altup_predict_coef", routed(blk, "predict", streams[0]), count * count);
        Value all = joined(blk + "altup_all", 0);
        for (int i = 0; i < count; i++) {
            Value share = g.slice(blk + "altup_share." + i, shares, 1, i * count, count);
            Value mixed = g.weightedSum(blk + "altup_mixed." + i, all, share);
            streams[i] = g.add(blk + "altup_predicted." + i, streams[i], mixed);
        }
        return streams[0];
    }

    /// Moves the streams by what a layer made of the first.
    ///
    /// @param made `[T, E]`
    /// @return the first of them, `[T, E]`
    Value correct(String blk, Value made) {
        Value change = g.add(blk + "altup_change", made, g.scale(blk + "altup_before", streams[0], -1));
        Value shares = d.linear(blk + "altup_correct_coef", routed(blk, "correct", made), streams.length);
        for (int i = 0; i < streams.length; i++) {
            Value share = g.slice(blk + "altup_correction." + i, shares, 1, i, 1);
            Value more = g.weightedSum(blk + "altup_more." + i, change, share);
            Value moved = g.add(blk + "altup_moved." + i, streams[i], change);
            streams[i] = g.add(blk + "altup_corrected." + i, moved, more);
        }
        return streams[0];
    }

    /// Adds to all streams but the first.
    void addToOthers(String blk, Value x) {
        for (int i = 1; i < streams.length; i++) {
            streams[i] = g.add(blk + "altup_out." + i, streams[i], x);
        }
    }

    /// {@return the mean of the first stream and of products of the others that are as long, `[T, E]`}
    Value mean() {
        Value sum = streams[0];
        for (Value part : products("altup_unembd_proj", joined("altup_last", 1), streams[0])) {
            sum = g.add(part.name() + "_sum", sum, part);
        }
        return g.scale("altup_mean", sum, 1f / streams.length);
    }

    private Value routed(String blk, String what, Value x) {
        String name = blk + "altup_router";
        Weight weight = Weight.vector(name + "_norm.weight", x.width());
        Value normed = g.rmsNorm(name + "_norm_" + what, x, weight, d.config().rmsEps());
        Value scaled = g.scale(name + "_scaled_" + what, normed, 1f / x.width());
        Weight matrix = new Weight(name + ".weight", x.width(), streams.length);
        Value logits = g.linear(name + "_" + what, scaled, matrix, Optional.empty());
        return g.activate(name + "_act_" + what, logits, Activation.TANH);
    }

    private Value joined(String name, int from) {
        Value all = streams[from];
        for (int i = from + 1; i < streams.length; i++) {
            all = g.join(name + "." + i, all, streams[i], 1);
        }
        return all;
    }
}
