/// Reads texts by a grammar, byte by byte: a pushdown automaton that is made as it is used.
package dev.tenon.platform.grammar.automaton;
