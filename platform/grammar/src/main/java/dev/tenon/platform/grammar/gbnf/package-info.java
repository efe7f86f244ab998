/// Grammars in GBNF, the notation of llama.cpp.
package dev.tenon.platform.grammar.gbnf;
