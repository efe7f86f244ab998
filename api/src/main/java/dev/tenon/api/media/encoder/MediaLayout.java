package dev.tenon.api.media.encoder;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;

/// Lays a picture or a sound out: as steps of the encoder, and the text around their rows. Safe for any thread.
public sealed interface MediaLayout {
    /// The layout of an encoder of pictures.
    non-sealed interface OfPictures extends MediaLayout {
        /// Lays a picture out.
        ///
        /// @param picture the picture
        /// @param tensors of the companion file
        /// @param prompt is told, in order, what stands in the place of the picture
        void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt);
    }

    /// The layout of an encoder of sounds.
    non-sealed interface OfSounds extends MediaLayout {
        /// Lays a sound out.
        ///
        /// @param sound the sound
        /// @param tensors of the companion file
        /// @param prompt is told, in order, what stands in the place of the sound
        void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt);
    }
}
