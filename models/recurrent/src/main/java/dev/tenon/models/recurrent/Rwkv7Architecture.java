package dev.tenon.models.recurrent;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.Norm;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `rwkv7` architecture: RWKV-7 (Peng et al. 2025).
///
/// No attention: each layer mixes tokens by a state of keys and values from which it takes what new keys replace, and
/// channels by a squared ReLU; both read mixtures of a token with the one before it. Values of the first layer take
/// part in those of all others.
@Component(service = ModelArchitecture.class, property = "model.architecture=rwkv7")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Rwkv7Architecture implements ModelArchitecture {
    private static final int MAX_WIDTH = 1 << 24;
    /// Logarithm of the least that a token leaves of the state: minus the root of 1 / e.
    private static final float LEAST_DECAY = -0.606531f;

    private static final float GROUP_EPS = 64e-5f;
    private static final float UNIT_EPS = 1e-24f;
    /// Rows of `time_mix_lerp_fused`.
    private static final int WAYS = 6;

    @Override
    public String id() {
        return "rwkv7";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readWithoutAttention(source);
        return new ModelDefinition(config, new Layers(keys, config).graph());
    }

    /// The graph of a file.
    private static final class Layers {
        private final DecoderBlocks d;
        private final GraphBuilder g;
        private final int width;
        private final int heads;
        private final int forward;
        private final int decayRank;
        private final int rateRank;
        private final int valueRank;
        private final int gateRank;
        private Value firstValues;

        Layers(ModelKeys keys, ModelConfig c) {
            d = new DecoderBlocks(keys.source(), c).norms(Norm.LAYER);
            g = d.graph();
            width = c.embeddingLength();
            int length = keys.integer("wkv.head_size", 1, width);
            if (width % length != 0) {
                throw keys.impossible("wkv.head_size", length, "a divisor of the width, " + width);
            }
            heads = width / length;
            forward = keys.integer("feed_forward_length", 1, MAX_WIDTH);
            decayRank = keys.integer("attention.decay_lora_rank", 1, MAX_WIDTH);
            rateRank = keys.integer("attention.iclr_lora_rank", 1, MAX_WIDTH);
            valueRank = keys.integer("attention.value_residual_mix_lora_rank", 1, MAX_WIDTH);
            gateRank = keys.integer("attention.gate_lora_rank", 1, MAX_WIDTH);
        }

        Graph graph() {
            Value x = d.layerNorm("token_embd_norm", d.embedding()); //                               [T, E]
            for (int layer = 0; layer < d.config().blockCount(); layer++) {
                String blk = "blk." + layer + ".";
                x = g.add(blk + "time_residual", x, mixTime(blk, d.norm(blk + "attn_norm", x)));
                x = g.add(blk + "channel_residual", x, mixChannels(blk, d.norm(blk + "attn_norm_2", x)));
            }
            return d.build(x); //                                                                     [L, nVocab]
        }

        private Value mixTime(String blk, Value x) {
            Value mixed = shifted(blk + "time_mix_lerp_fused", x, WAYS);
            Value[] way = new Value[WAYS];
            for (int i = 0; i < WAYS; i++) {
                way[i] = g.slice(blk + "mixed." + i, mixed, 1, i * width, width);
            }
            String mix = blk + "time_mix_";
            Value r = d.linear(mix + "receptance", way[0], width);
            Value decay =
                    g.activate(mix + "decay", low(mix, "w", way[1], decayRank, Activation.TANH), Activation.SIGMOID);
            decay = g.scale(mix + "log_decay", decay, LEAST_DECAY);
            Value k = d.linear(mix + "key", way[2], width);
            Value v = values(mix, way[3]);
            Value rate = g.activate(mix + "rate", low(mix, "a", way[4], rateRank, null), Activation.SIGMOID);

            Value unit = g.plainRmsNorm(mix + "unit", times(mix + "k_k", k), heads, UNIT_EPS);
            Value remove = g.scale(mix + "remove", unit, (float) (1 / Math.sqrt(width / heads)));
            Value more = times(mix + "k_a", k);
            Value less = g.scale(mix + "less", more, -1);
            k = g.add(mix + "k", g.add(mix + "k_less", k, less), g.multiply(mix + "k_more", more, rate));

            Value rkv = g.join(mix + "rkv", g.join(mix + "rk", r, k, 1), v, 1);
            Value out = g.value(mix + "replaced", width);
            g.add(new RecurrentOp.ReplacementRule(
                    rkv, decay, remove, g.multiply(mix + "add", remove, rate), heads, out));
            out = plus(mix + "ln.bias", times(mix + "ln", normed(mix, out)));
            Value products = times(mix + "r_k", g.multiply(mix + "rk_products", r, k));
            Value bonus = g.scale(mix + "bonus", g.groupMean(mix + "bonus_mean", products, heads), width / heads);
            out = g.add(mix + "with_bonus", out, g.multiply(mix + "bonus_values", bonus, v));

            Value open = g.activate(mix + "open", part(mix, "g1", way[5], gateRank), Activation.SIGMOID);
            out = g.multiply(mix + "gated", out, part(mix, "g2", open, width));
            return d.linear(mix + "output", out, width);
        }

        /// The values of a layer, moved towards those of the first.
        private Value values(String mix, Value x) {
            Value v = d.linear(mix + "value", x, width);
            if (firstValues == null) {
                firstValues = v;
                return v;
            }
            Value share = g.activate(mix + "share", low(mix, "v", x, valueRank, null), Activation.SIGMOID);
            Value away = g.add(mix + "away", firstValues, g.scale(mix + "minus_v", v, -1));
            return g.add(mix + "v", v, g.multiply(mix + "towards", away, share));
        }

        /// Two matrices of low rank, with something between them or nothing, and a vector.
        private Value low(String mix, String name, Value x, int rank, Activation between) {
            Value low = part(mix, name + "1", x, rank);
            Value inner = between == null ? low : g.activate(mix + name + "_act", low, between);
            return plus(mix + name + "0.weight", part(mix, name + "2", inner, width));
        }

        private Value part(String mix, String name, Value x, int rows) {
            return g.linear(mix + name, x, new Weight(mix + name + ".weight", x.width(), rows), Optional.empty());
        }

        /// Layer norms of heads, without weights.
        private Value normed(String mix, Value x) {
            Value mean = g.scale(mix + "minus_mean", g.groupMean(mix + "mean", x, heads), -1);
            return g.plainRmsNorm(mix + "normed", g.add(mix + "centred", x, mean), heads, GROUP_EPS);
        }

        private Value times(String name, Value x) {
            return g.multiply(name + "_times", x, g.repeat(name, Weight.vector(name + ".weight", width)));
        }

        private Value plus(String tensor, Value x) {
            return g.add(tensor + "_plus", x, g.repeat(tensor, Weight.vector(tensor, width)));
        }

        private Value mixChannels(String blk, Value x) {
            Value mixed = shifted(blk + "channel_mix_lerp_k", x, 1);
            Value key = d.linear(blk + "channel_mix_key", mixed, forward);
            Value hidden = g.activate(blk + "channel_mix_act", key, Activation.RELU_SQUARED);
            return d.linear(blk + "channel_mix_value", hidden, width);
        }

        private Value shifted(String name, Value x, int ways) {
            Value out = g.value(name, ways * width);
            g.add(new RecurrentOp.TokenShift(x, new Weight(name + ".weight", width, ways), out));
            return out;
        }
    }

    /// Files have the values' matrices of the first layer, too, which has nothing to move towards.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return tensor.matches("blk\\.0\\.time_mix_v[012]\\.weight");
    }
}
