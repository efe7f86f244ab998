package dev.tenon.api.media.encoder;

import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import org.osgi.annotation.versioning.ConsumerType;

/// A kind of encoder, found by the id that a model's companion file gives (`clip.projector_type`), such as
/// `qwen3vl_merger`. A service, as [dev.tenon.api.model.ModelArchitecture] is; safe for any thread.
@ConsumerType
public interface MediaEncoder {
    /// {@return the id}
    String id();

    /// Describes the encoder of a companion file.
    ///
    /// @param source metadata and tensor descriptions of the companion
    /// @param text hyperparameters of the model that reads the rows
    /// @return the encoder
    /// @throws dev.tenon.api.error.ModelFormatException if the file is broken, or its rows do not fit the model
    /// @throws dev.tenon.api.error.UnsupportedModelException if the file asks for what this encoder cannot do
    EncoderDefinition define(ModelSource source, ModelConfig text);

    /// {@return whether a tensor of the companion is of no use to this encoder, and may be there}
    ///
    /// @param source metadata and tensor descriptions of the companion
    /// @param tensor its name
    default boolean ignores(ModelSource source, String tensor) {
        return false;
    }
}
