/// What a bundle offers to the NVIDIA backends: CUDA C, products of a library, and the names of their tuning knobs.
///
/// May change incompatibly until 1.0: import `[0.9,0.10)`.
@Version("0.9.0")
@Export
@NullMarked
package dev.tenon.api.kernel.cuda;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
