package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
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
        ModelConfig c = b.config();
        Weight positions = new Weight("position_embd.weight", c.embeddingLength(), c.contextLength());
        Value x = Encoders.typed(b, keys); //                                                     [T, E]
        x = b.graph().add("embd_placed", x, b.graph().positionEmbedding("position", positions));
        return Encoders.bert(
                b,
                keys,
                x,
                Optional.empty(),
                Optional.empty(),
                (blk, layer, y) -> b.feedForward(blk, "", y, c.feedForwardLength(), Activation.GELU_TANH));
    }
}
