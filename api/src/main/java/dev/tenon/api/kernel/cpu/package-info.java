/// The calling conventions of kernels for CPU backends: they fix rounding, page size and panels.
///
/// May change incompatibly until 1.0: import `[0.11,0.12)`.
@Version("0.11.0")
@Export
@NullMarked
package dev.tenon.api.kernel.cpu;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
