package dev.tenon.models.recurrent;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import org.osgi.service.component.annotations.Component;

/// The `mamba2` architecture: Mamba-2 (Dao and Gu 2024) and Codestral Mamba.
///
/// Every layer adds what a Mamba-2 layer makes of the normed residual stream, and nothing else: no attention, no
/// feed-forward layer.
@Component(service = ModelArchitecture.class, property = "model.architecture=mamba2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Mamba2Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "mamba2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readWithoutAttention(source);
        DecoderBlocks d = new DecoderBlocks(source, config).always("ssm_norm.weight");
        StateBlocks states = new StateBlocks(d, StateShape.read(keys));
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < config.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            x = d.graph().add(blk + "residual", x, states.mamba2(blk, d.rmsNorm(blk + "attn_norm", x)));
        }
        return new ModelDefinition(config, d.build(x)); //                                            [L, nVocab]
    }
}
