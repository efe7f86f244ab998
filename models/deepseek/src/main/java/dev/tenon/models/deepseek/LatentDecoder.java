package dev.tenon.models.deepseek;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.Arrays;
import java.util.Optional;

/// Decoders of latent attention and experts, to all positions or to those that an index chooses.
final class LatentDecoder {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final int MOST_SHARED = 64;
    /// Contexts from which on layers of published models share positions; files without the key do not say which.
    private static final int MUST_SAY = 1_000_000;
    private static final String OLD_FORM = "blk.0.attn_kv_b.weight";

    private LatentDecoder() {}

    /// Builds the graph of a file.
    ///
    /// @param source the file
    /// @param gating of experts, where the file does not say it
    /// @param indexPairing which elements of an index are rotated together, or empty without one
    static ModelDefinition define(ModelSource source, Gating gating, Optional<Pairing> indexPairing) {
        if (source.has(OLD_FORM)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    source.metadata().source() + " has the tensor " + OLD_FORM
                            + ", the older form of latent attention; implemented: attn_k_b and attn_v_b. Get a newer file.");
        }
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", gating, false);
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED) * experts.width();
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, config.blockCount());
        LatentAttention attention = LatentAttention.read(keys, config, true);
        Optional<PositionIndex> index = indexPairing.map(pairing -> PositionIndex.read(keys, config, pairing));
        int[] chooses = index.isPresent() ? chooses(keys, config) : new int[config.blockCount()];

        DecoderBlocks d = new DecoderBlocks(source, config);
        Value x = d.embedding(); //                                                                   [T, E]
        Optional<Value> positions = Optional.empty();
        int cached = 0;
        for (int layer = 0; layer < config.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value compressed = attention.compressed(d, blk, normed);
            if (chooses[layer] != 0) {
                positions = Optional.of(index.orElseThrow().positions(d, blk, normed, compressed, cached++));
            }
            Value attended = attention.of(d, blk, normed, compressed, cached++, positions);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = layer < dense
                    ? d.gated(blk, "", normed, config.feedForwardLength(), Activation.SILU)
                    : ExpertBlocks.gated(d, blk, normed, experts, shared, Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return new ModelDefinition(config, d.build(x)); //                                            [L, nVocab]
    }

    /// {@return for each layer 1 where it chooses positions, and 0 where it takes those of the last that did}
    private static int[] chooses(ModelKeys keys, ModelConfig config) {
        String types = "attention.indexer.types";
        int[] chooses = new int[config.blockCount()];
        if (keys.has(types) || config.contextLength() >= MUST_SAY) {
            chooses = keys.perLayer(types, config.blockCount(), 0, 1);
        } else {
            Arrays.fill(chooses, 1);
        }
        if (chooses[0] == 0) {
            throw keys.impossible(types, "0 for layer 0", "1, as no layer before it chooses positions");
        }
        return chooses;
    }
}
