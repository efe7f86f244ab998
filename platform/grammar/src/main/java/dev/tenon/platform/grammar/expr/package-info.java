/// Languages of bytes: regular expressions with intersection, complement and rules, and their
/// derivatives.
@Version("0.1.0")
@Export
package dev.tenon.platform.grammar.expr;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
