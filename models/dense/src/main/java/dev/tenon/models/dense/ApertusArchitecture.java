package dev.tenon.models.dense;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
import org.osgi.service.component.annotations.Component;

/// The `apertus` architecture: the Apertus models of the Swiss AI Initiative.
///
/// A usual decoder whose queries and keys are normed by head before the rotation of half-split pairs, and whose
/// feed-forward layer has two matrices with a [PartOp.Xielu] between them. Its numbers are those of the keys
/// `xielu.*`, one for each layer, which do not begin with the architecture's name.
@Component(service = ModelArchitecture.class, property = "model.architecture=apertus")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class ApertusArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    /// Of the numbers of an activation: `exp` of it is finite.
    private static final float LARGEST = 80;
    private static final int MAX_WIDTH = 1 << 24;

    /// What the file has of the activations, by layer; `alphaP` and `alphaN` before they are made positive.
    private record Bends(float[] alphaP, float[] alphaN, float[] beta, float[] eps) {}

    @Override
    public String id() {
        return "apertus";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        GgufMetadata meta = source.metadata();
        int layers = config.blockCount();
        int width = keys.integer("feed_forward_length", 1, MAX_WIDTH);
        Bends bends = new Bends(
                numbers(meta, "xielu.alpha_p", layers),
                numbers(meta, "xielu.alpha_n", layers),
                numbers(meta, "xielu.beta", layers),
                numbers(meta, "xielu.eps", layers));
        DecoderBlocks d = new DecoderBlocks(source, config).always(QkNorm.HEADS);
        return new ModelDefinition(
                config, UsualDecoder.of(d, rope, (blk, layer, x) -> feedForward(d, blk, x, width, bends, layer)));
    }

    private static float[] numbers(GgufMetadata meta, String key, int layers) {
        float[] found = meta.floats(key).orElseThrow(() -> meta.missing(key));
        for (int i = 0; i < layers; i++) {
            if (i >= found.length || !(Math.abs(found[i]) <= LARGEST)) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_KEY_VALUE,
                        key + " in " + meta.source() + " has "
                                + (i < found.length ? found[i] + " for layer " + i : found.length + " numbers")
                                + "; expected " + -LARGEST + " to " + LARGEST + " for each of " + layers
                                + " layers. The file is broken: download it again.");
            }
        }
        return found;
    }

    private static Value feedForward(DecoderBlocks d, String blk, Value x, int width, Bends bends, int layer) {
        float beta = bends.beta[layer];
        Value up = d.linear(blk + "ffn_up", x, width);
        Value bent = d.graph().value(blk + "ffn_act", width);
        float alphaN = beta + softplus(bends.alphaN[layer]);
        d.graph().add(new PartOp.Xielu(up, softplus(bends.alphaP[layer]), alphaN, beta, bends.eps[layer], bent));
        return d.linear(blk + "ffn_down", bent, x.width());
    }

    private static float softplus(float x) {
        return (float) Math.log1p(Math.exp(x));
    }
}
