/// Reads JSON texts, with the order of keys and the exact numbers.
package dev.tenon.platform.grammar.json;
