package dev.tenon.platform.core.control;

import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.Optional;

/// An encoder of pictures or sounds in the place of an architecture: so that a companion file is placed as a model
/// is. For one thread.
public final class EncoderArchitecture implements ModelArchitecture {
    private final MediaEncoder encoder;
    private final ModelConfig text;
    private MediaLayout layout;

    /// @param encoder the encoder
    /// @param text hyperparameters of the model that reads its rows
    public EncoderArchitecture(MediaEncoder encoder, ModelConfig text) {
        this.encoder = encoder;
        this.text = text;
    }

    /// {@return the service that defines a model: an architecture, or the encoder for which it stands}
    ///
    /// @param architecture any
    public static Object service(ModelArchitecture architecture) {
        return architecture instanceof EncoderArchitecture encoder ? encoder.encoder : architecture;
    }

    /// {@return how pictures or sounds are laid out for what was defined, if it is an encoder}
    ///
    /// @param architecture any
    public static Optional<MediaLayout> layout(ModelArchitecture architecture) {
        return architecture instanceof EncoderArchitecture encoder
                ? Optional.ofNullable(encoder.layout)
                : Optional.empty();
    }

    @Override
    public String id() {
        return encoder.id();
    }

    /// Defines the encoder as a model whose context is what a step of it may need.
    @Override
    public ModelDefinition define(ModelSource source) {
        EncoderDefinition defined = encoder.define(source, text);
        layout = defined.layout();
        return new ModelDefinition(
                ModelConfig.builder(encoder.id())
                        .contextLength(defined.mostTokens())
                        .embeddingLength(defined.width())
                        .build(),
                defined.graph());
    }

    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return layout != null && layout.tensors().contains(tensor) || encoder.ignores(source, tensor);
    }
}
