package dev.tenon.api.media.encoder;

import org.osgi.annotation.versioning.ProviderType;

/// What stands in a prompt in the place of a picture or a sound: a [MediaLayout] says it, piece by piece.
@ProviderType
public interface MediaPrompt {
    /// Adds a text of its own, in which names of special tokens are those tokens.
    ///
    /// @param text such as `<start_of_image>`
    void text(String text);

    /// Adds one token, which the vocabulary has for the whole of a text.
    ///
    /// @param token its name, or what it stands for, such as a line feed
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary does not have it
    void token(String token);

    /// Adds the rows that the encoder makes in one step, in the [order][EncoderStep#order] of the
    /// step.
    ///
    /// @param step what it is given
    /// @param columns how many of the rows are beside each other in the picture; as many as there are, for a sound
    /// @param together whether each row sees all of them, and not only those before it
    void rows(EncoderStep step, int columns, boolean together);

    /// Adds the rows that the encoder makes in one step, and between those of two lines of the
    /// picture one that is no result of it. Each row sees those before it.
    ///
    /// @param step what it is given
    /// @param columns how many of the rows are a line
    /// @param between as wide as its results; borrowed
    void lines(EncoderStep step, int columns, float[] between);
}
