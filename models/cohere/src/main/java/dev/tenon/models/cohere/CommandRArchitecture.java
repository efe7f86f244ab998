package dev.tenon.models.cohere;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `command-r` architecture: Command R and the Aya models of its time.
///
/// `cohere2` without windows, whose every layer rotates. Command R+, which norms queries and keys with weights of
/// their own for each head, is refused.
@Component(service = ModelArchitecture.class, property = "model.architecture=command-r")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class CommandRArchitecture implements ModelArchitecture {
    private static final String HEAD_NORM = "blk.0.attn_q_norm.weight";

    @Override
    public String id() {
        return "command-r";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        if (source.has(HEAD_NORM)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    source.metadata().source() + " has the tensor " + HEAD_NORM
                            + ", norms of queries and keys; implemented: models without, such as Command R.");
        }
        return Cohere2Architecture.define(keys, 0, layer -> true);
    }
}
