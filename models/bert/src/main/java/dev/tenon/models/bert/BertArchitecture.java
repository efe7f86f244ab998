package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `bert` architecture: BERT (Devlin et al. 2018) and what is converted to that name, such as MiniLM, BGE,
/// XLM-RoBERTa, and rerankers of them.
///
/// An encoder with a learned vector for each position, attention without a mask, norms after the sums, biases
/// everywhere and a GELU feed-forward layer; no norm at the end.
@Component(service = ModelArchitecture.class, property = "model.architecture=bert")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class BertArchitecture implements ModelArchitecture {
    private static final String[] BIASES = {
        "attn_q.bias",
        "attn_k.bias",
        "attn_v.bias",
        "attn_output.bias",
        "attn_output_norm.bias",
        "ffn_up.bias",
        "ffn_down.bias",
        "layer_output_norm.bias"
    };

    @Override
    public String id() {
        return "bert";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.keys(source);
        ModelConfig config = ModelConfig.readShape(source, Encoders.NO_ROTATION);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config).always(BIASES), keys));
    }

    private static Graph graph(DecoderBlocks b, ModelKeys keys) {
        GraphBuilder g = b.graph();
        ModelConfig c = b.config();
        Weight positions = new Weight("position_embd.weight", c.embeddingLength(), c.contextLength());

        Value x = g.add("embd_typed", b.embedding(), Encoders.tokenType(b, keys)); //           [T, E]
        x = g.add("embd_placed", x, g.positionEmbedding("position", positions));
        x = b.layerNorm("token_embd_norm", x);
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            AttentionParams params = b.attentionParams(blk).causal(false).build();

            Value attended = b.attention(blk, x, layer, params, Optional.empty());
            x = b.layerNorm(blk + "attn_output_norm", g.add(blk + "attn_residual", x, attended));

            Value down = b.feedForward(blk, "", x, c.feedForwardLength(), Activation.GELU_TANH);
            x = b.layerNorm(blk + "layer_output_norm", g.add(blk + "ffn_residual", x, down));
        }
        return EncoderHead.build(b, keys, x);
    }
}
