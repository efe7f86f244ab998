/// What compilers of graphs share: judging ops, and the memory of values.
///
/// May change incompatibly until 1.0: import `[0.9,0.10)`.
@Version("0.9.0")
@Export
@NullMarked
package dev.tenon.api.compile;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
