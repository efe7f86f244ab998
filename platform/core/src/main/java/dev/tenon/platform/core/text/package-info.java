/// Tokenizers: byte-level BPE and SentencePiece, read from the `tokenizer.ggml.*` keys of a GGUF file.
///
/// A text goes through three steps: special tokens written out in it are cut out ([SpecialTokens]),
/// the rest is cut into words ([dev.tenon.platform.core.text.words.PreTokenizer], BPE only), and each word is merged
/// into tokens.
/// Decoding is one class for both kinds ([Utf8StreamDecoder]).
package dev.tenon.platform.core.text;
