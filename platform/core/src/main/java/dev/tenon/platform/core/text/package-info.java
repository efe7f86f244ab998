/// Tokenizers: BPE of bytes and of characters, SentencePiece BPE and unigram, WordPiece, read from the
/// `tokenizer.ggml.*` keys of a GGUF file.
///
/// A text goes through three steps: special tokens written out in it are cut out ([SpecialTokens]),
/// the rest is cut into words ([dev.tenon.platform.core.text.words], not for SentencePiece), and each
/// word becomes tokens. Decoding is one class for all kinds ([Utf8StreamDecoder]).
package dev.tenon.platform.core.text;
