package dev.tenon.platform.core.placement;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.platform.core.control.EncoderArchitecture;
import dev.tenon.platform.core.control.EncoderArchitecture.PictureWishes;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.List;
import java.util.stream.Stream;

/// What a file is loaded as: a model of text, or the encoder of one.
public sealed interface ModelRole {
    /// A model of text.
    ///
    /// @param rowWidth elements of the rows that come in the place of embeddings; 0 where none come
    record Text(int rowWidth) implements ModelRole {}

    /// The encoder of a companion file.
    ///
    /// @param text hyperparameters of the model that reads its rows
    /// @param pictures what a user wants of them
    record Encoder(ModelConfig text, PictureWishes pictures) implements ModelRole {}

    /// {@return how wide the rows are that come in the place of embeddings; 0 where none come}
    default int rowWidth() {
        return 0;
    }

    /// Finds what defines the model.
    ///
    /// @param registry what is installed
    /// @param file the file
    /// @throws UnsupportedModelException (`MODEL-003`) if nothing installed reads it
    default ModelArchitecture architecture(ServiceRegistry registry, GgufFile file) {
        return switch (this) {
            case Text _ -> {
                String id = file.metadata().requiredString("general.architecture");
                yield registry.architecture(id)
                        .orElseThrow(() -> unknown(
                                file,
                                "architecture",
                                id,
                                Decision.list(registry.architectures(), ModelArchitecture::id)));
            }
            case Encoder(ModelConfig text, PictureWishes pictures) -> {
                String id = projector(file.metadata());
                List<MediaEncoder> installed = registry.all(MediaEncoder.class);
                yield registry.service(MediaEncoder.class, id)
                        .map(encoder -> new EncoderArchitecture(encoder, text, pictures))
                        .orElseThrow(() -> unknown(file, "encoder", id, Decision.list(installed, MediaEncoder::id)));
            }
        };
    }

    private static UnsupportedModelException unknown(GgufFile file, String kind, String id, String installed) {
        return new UnsupportedModelException(
                ErrorCode.MODEL_ARCHITECTURE,
                file.path().getFileName() + " has " + kind + " '" + id + "'; installed " + kind + "s: " + installed
                        + ". Install a bundle that offers it, for example by dropping its jar into deploy/.");
    }

    /// {@return what a companion file calls its encoder}
    private static String projector(GgufMetadata keys) {
        return Stream.of("clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type")
                .flatMap(key -> keys.string(key).stream())
                .findFirst()
                .orElseGet(() -> keys.requiredString("clip.projector_type"));
    }
}
