package dev.tenon.platform.core.control;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.VisionKeys;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// An encoder of pictures or sounds in the place of an architecture: so that a companion file is placed as a model
/// is. For one thread.
public final class EncoderArchitecture implements ModelArchitecture {
    private final MediaEncoder encoder;
    private final ModelConfig text;
    private final PictureWishes pictures;
    private MediaLayout layout;

    /// What a user wants of pictures.
    ///
    /// @param least rows of a picture, where its size decides how many it has; 0 for as few as in the
    ///     training
    /// @param most 0 for as many as in the training
    /// @param stretched whether a picture fills its size without keeping proportions, whatever the encoder says
    public record PictureWishes(int least, int most, boolean stretched) {}

    /// @param encoder the encoder
    /// @param text hyperparameters of the model that reads its rows
    /// @param pictures what a user wants of them
    public EncoderArchitecture(MediaEncoder encoder, ModelConfig text, PictureWishes pictures) {
        this.encoder = encoder;
        this.text = text;
        this.pictures = pictures;
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
        EncoderDefinition defined = encoder.define(wished(source), text);
        layout = defined.layout();
        return new ModelDefinition(
                ModelConfig.builder(encoder.id())
                        .contextLength(defined.mostTokens())
                        .embeddingLength(defined.width())
                        .build(),
                defined.graph());
    }

    private ModelSource wished(ModelSource source) {
        GgufMetadata metadata = source.metadata();
        Map<String, GgufValue> values = new LinkedHashMap<>(metadata.values());
        put(values, VisionKeys.LEAST_ROWS, pictures.least);
        put(values, VisionKeys.MOST_ROWS, pictures.most);
        if (pictures.stretched) {
            values.put("clip." + VisionKeys.FIT, GgufValue.of("stretch"));
        }
        return new ModelSource(GgufMetadata.of(metadata.source(), values), source.tensors());
    }

    private static void put(Map<String, GgufValue> values, String key, int rows) {
        if (rows > 0) {
            values.put("clip." + key, GgufValue.ofUint32(rows));
        }
    }

    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return layout != null && layout.tensors().contains(tensor) || encoder.ignores(source, tensor);
    }
}
