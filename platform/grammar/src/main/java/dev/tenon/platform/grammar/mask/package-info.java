/// Masks: which tokens of a vocabulary may continue a text.
@Version("0.1.0")
@Export
package dev.tenon.platform.grammar.mask;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
