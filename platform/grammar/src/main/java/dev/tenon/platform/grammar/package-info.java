/// Grammars that say what a model may write: JSON Schema, GBNF, regular expressions, and what is
/// put together of them.
///
/// [dev.tenon.platform.grammar.Grammar] is the way in; docs/grammar.md says what is supported.
@Version("0.1.0")
@Export
package dev.tenon.platform.grammar;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
