package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Decodes one stream of tokens as they come, never returning a part of a UTF-8 character. Not safe
/// for several threads.
@ConsumerType
public interface StreamDecoder {
    /// Takes the next token.
    ///
    /// @param id token id
    /// @return the text that is complete now; empty while a character is still cut
    String next(int id);

    /// Ends the stream.
    ///
    /// @return what is left: U+FFFD for a character that never became whole, or an empty string
    String finish();
}
