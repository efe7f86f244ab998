/// Words: cut a text into the parts that byte-level BPE merges or WordPiece cuts, by the rules of each model.
package dev.tenon.platform.core.text.words;
