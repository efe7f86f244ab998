/// What decoders have in common, for architectures that are not made of core ops one by one: their blocks as
/// methods that add ops to a graph, and the keys for rotation and for the choice of experts.
///
/// May change incompatibly until 1.0: import `[0.12.0.12)`.
@Version("0.12.0")
@Export
@NullMarked
package dev.tenon.api.model.blocks;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
