package dev.tenon.api.media.encoder;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;

/// Lays a picture or a sound out: as steps of the encoder, and the text around their rows. Safe for any thread.
public interface MediaLayout {
    /// Lays a picture out.
    ///
    /// @param picture the picture
    /// @param tensors of the companion file
    /// @param prompt is told, in order, what stands in the place of the picture
    /// @throws UnsupportedOperationException if the encoder is of sounds
    default void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
        throw new UnsupportedOperationException("this encoder takes no pictures");
    }

    /// Lays a sound out.
    ///
    /// @param sound the sound
    /// @param tensors of the companion file
    /// @param prompt is told, in order, what stands in the place of the sound
    /// @throws UnsupportedOperationException if the encoder is of pictures
    default void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt) {
        throw new UnsupportedOperationException("this encoder takes no sounds");
    }
}
