/// How a weight format's blocks are laid out, as data: what backends make their code of.
///
/// A [BlockLayout] says which bits of a block are levels, scales and minimums ([Numbers], made of
/// [BitField]s), and how values follow from them. A format that offers one needs no decoder of its own, and
/// backends need no line written for it. Version 0.x: may change.
@Version("0.3.0")
@Export
@NullMarked
package dev.tenon.api.quant.layout;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
