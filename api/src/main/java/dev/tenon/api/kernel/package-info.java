/// Kernels that format and model bundles offer to the backends of others.
///
/// May change incompatibly until 1.0: import `[0.10,0.11)`.
@Version("0.10.0")
@Export
@NullMarked
package dev.tenon.api.kernel;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
