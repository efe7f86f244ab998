/// Pre-tokenizers: cut a text into the words that byte-level BPE merges, by the rules of each model.
package dev.tenon.platform.core.text.words;
