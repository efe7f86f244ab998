/// Regular expressions, as ECMAScript writes them with the flag `u`, made into expressions of
/// bytes.
package dev.tenon.platform.grammar.regex;
