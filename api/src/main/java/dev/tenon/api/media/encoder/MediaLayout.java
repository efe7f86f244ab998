package dev.tenon.api.media.encoder;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import java.util.Set;

/// Lays a picture or a sound out: as steps of the encoder, and the text around their rows. Safe for any thread.
public sealed interface MediaLayout {
    /// {@return the tensors of the companion file that it asks for, besides those of the graph: names, unmodifiable;
    ///     others that the graph does not use are refused when the file is loaded}
    Set<String> tensors();

    /// The layout of an encoder of pictures.
    non-sealed interface OfPictures extends MediaLayout {
        /// {@return a table of positions and the bias of patches, which most encoders have}
        @Override
        default Set<String> tensors() {
            return Set.of("v.position_embd.weight", "v.patch_embd.bias");
        }

        /// Lays a picture out.
        ///
        /// @param picture the picture
        /// @param tensors of the companion file
        /// @param prompt is told, in order, what stands in the place of the picture
        void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt);
    }

    /// The layout of an encoder of sounds.
    non-sealed interface OfSounds extends MediaLayout {
        /// {@return a table of positions, which most encoders have}
        @Override
        default Set<String> tensors() {
            return Set.of("a.position_embd.weight");
        }

        /// Lays a sound out.
        ///
        /// @param sound the sound
        /// @param tensors of the companion file
        /// @param prompt is told, in order, what stands in the place of the sound
        void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt);
    }
}
