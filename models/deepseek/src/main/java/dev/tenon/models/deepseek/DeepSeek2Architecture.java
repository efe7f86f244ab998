package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `deepseek2` architecture: DeepSeek V2, V3 and R1, and other models with latent attention.
///
/// Keys and values of all heads are projections of one short vector of a token, its latent, beside a part of the
/// key that all heads share and that alone is rotated, in neighbouring pairs (DeepSeek-AI 2024). They are never
/// computed: each head's projection of the latent to keys is applied to its query, the one to values to what it
/// attended to, so that the cache holds the latent and the rotated part only.
///
/// The first layers are dense. In the others a few experts are chosen, in groups if the file says so, by the
/// softmax or the sigmoid of their logits; shared experts serve every token.
@Component(service = ModelArchitecture.class, property = "model.architecture=deepseek2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class DeepSeek2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final int MOST_SHARED = 64;
    private static final String OLD_FORM = "blk.0.attn_kv_b.weight";

    @Override
    public String id() {
        return "deepseek2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        if (source.has(OLD_FORM)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    source.metadata().source() + " has the tensor " + OLD_FORM
                            + ", the older form of latent attention; implemented: attn_k_b and attn_v_b. Get a newer file.");
        }
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, false);
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED);
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, config.blockCount());
        LatentAttention attention = LatentAttention.read(keys, config, true);
        DecoderBlocks decoder = new DecoderBlocks(source, config);
        return new ModelDefinition(config, graph(decoder, attention, experts, dense, shared * experts.width()));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }

    private static Graph graph(
            DecoderBlocks d, LatentAttention attention, ExpertShape experts, int dense, int sharedWidth) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value attended = attention.of(d, blk, d.rmsNorm(blk + "attn_norm", x), layer);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            Value normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = layer < dense
                    ? d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU)
                    : ExpertBlocks.gated(d, blk, normed, experts, sharedWidth, Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
